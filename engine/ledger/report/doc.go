// Package report writes the documents of the ledger for people: as Markdown, as
// one HTML page, as CSV and as text for a terminal.
//
// Use: make a [Page] with [Leverage] or [Dossier] and write it with one of its
// methods. A page is sections of sentences and tables; nothing in it is computed
// here.
//
// An internal page says so in its first line and in every format; a page of
// simulated vendors says SIMULATED. The HTML needs nothing but itself.
package report
