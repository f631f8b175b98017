// Package ledger knows what vendors cost: it prices attempts, rolls them up, and
// makes of that the figures that people read and negotiate with.
//
// Use: make a [Book] of the configuration's prices; [Book.Price] each [Attempt]
// as it ends and [Rollup.Add] it; give rows back to [Costs], [Leverage],
// [Reconcile] and [Dossier] for the documents.
//
// Money is exact inside: prices are whole micro-units per million tokens, which
// makes an attempt's cost a whole number of pico-units (10^-12), and sums are
// kept in two integers ([Money]). Only documents hold floats. A price that is not
// known makes an attempt unpriced; it never costs 0.
//
// Tokens are the vendor's own count where it gave one. Where it did not, because
// a client hung up or a stream broke, they are estimated from the text and
// marked so ([Text]). An attempt that a vendor refused, or that never reached it,
// has none.
//
// The package is pure: no clock, no lock, no file. The store keeps the rows, the
// gateway makes the attempts, cli wires them.
package ledger
