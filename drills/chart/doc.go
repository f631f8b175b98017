// Package chart draws figures as inline SVG, for reports that are one HTML file
// and need no script: lines over time or over a load, stacked shares, bars with
// intervals, and percentile curves.
//
// Fill in a struct and call its SVG method; the text goes into an HTML page as
// it is. Put [CSS] into the page once: the charts take their colours from it, light
// or dark as the reader's screen is, and light on paper.
//
//	page := "<style>" + chart.CSS + "</style>" + chart.Lines{
//		Title:  "First token, P99",
//		X:      chart.Axis{Scale: chart.Time},
//		Y:      chart.Axis{Label: "ms", Zero: true},
//		Series: []chart.Series{{Name: "lanyun", Points: points}},
//		Marks:  []chart.Mark{{X: 0, Label: "fault"}, {X: 4.2, Label: "cutover"}},
//	}.SVG()
//
// Everything here is a pure function of its data: same data, same text. All names
// and labels are escaped. A figure that does not exist is NaN (see [Missing]): it
// leaves a gap and is never drawn as zero. A chart without figures says so.
//
// It is no plotting library: what a report of drills or of a stress test needs,
// and no more.
package chart

// CSS styles the charts of a page. Series are told apart by colour and by stroke.
const CSS = `:root{--s1:#0b63b8;--s2:#b8480b;--s3:#15753a;--s4:#7a22c4;--s5:#b3201f;--s6:#0c6a82;--ink:#1c2126;--faint:#5d6872;--grid:#dfe4e8;--span:#f6e3df}
@media screen and (prefers-color-scheme:dark){:root{--s1:#6db3ff;--s2:#ff9d5c;--s3:#5fd68a;--s4:#c99bff;--s5:#ff8a87;--s6:#54cfe6;--ink:#e6eaee;--faint:#9aa6b1;--grid:#343c44;--span:#3d2a2a}}
.chart{display:block;width:100%;height:auto;max-width:60rem;font:12px system-ui,-apple-system,"Segoe UI","Noto Sans","Noto Sans SC",sans-serif;break-inside:avoid}
.chart text{fill:var(--faint)}.chart .title{fill:var(--ink);font-size:13px;font-weight:600}.chart .name,.chart .mark{fill:var(--ink)}
.chart .grid{stroke:var(--grid);stroke-width:1}.chart .axis{stroke:var(--faint);stroke-width:1}.chart .span{fill:var(--span)}
.chart .moment{stroke:var(--ink);stroke-width:1;stroke-dasharray:2 3}.chart .limit{stroke:var(--s5);stroke-width:1;stroke-dasharray:7 4}.chart .error{stroke:var(--ink);stroke-width:1.2}
.chart .line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}.chart .dashed{stroke-dasharray:6 4}.chart .dotted{stroke-dasharray:1.5 4}.chart .area{fill-opacity:.75;stroke:none}
.chart .l1{stroke:var(--s1)}.chart .l2{stroke:var(--s2)}.chart .l3{stroke:var(--s3)}.chart .l4{stroke:var(--s4)}.chart .l5{stroke:var(--s5)}.chart .l6{stroke:var(--s6)}
.chart .f1{fill:var(--s1)}.chart .f2{fill:var(--s2)}.chart .f3{fill:var(--s3)}.chart .f4{fill:var(--s4)}.chart .f5{fill:var(--s5)}.chart .f6{fill:var(--s6)}
@media print{.chart *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`
