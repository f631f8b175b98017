package report

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Page is a document.
type Page struct {
	Title    string
	Marks    []string // INTERNAL, SIMULATED: above everything
	Lead     string   // its one sentence
	Sections []Section
}

// Section is a part of a page.
type Section struct {
	Title string
	Says  []string
	Head  []string   // of the table
	Rows  [][]string // nil: there is none
}

// Markdown writes the page in Markdown.
func (p *Page) Markdown(w io.Writer) error {
	var b strings.Builder
	for _, m := range p.Marks {
		fmt.Fprintf(&b, "**%s**\n\n", escape(m))
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n", escape(p.Title), escape(p.Lead))
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", escape(s.Title))
		for _, t := range s.Says {
			fmt.Fprintf(&b, "- %s\n", escape(t))
		}
		if len(s.Rows) == 0 {
			continue
		}
		if len(s.Says) > 0 {
			b.WriteByte('\n')
		}
		markdownRow(&b, s.Head)
		b.WriteString("|" + strings.Repeat(" --- |", len(s.Head)) + "\n")
		for _, r := range s.Rows {
			markdownRow(&b, r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + escape(c) + " |")
	}
	b.WriteByte('\n')
}

// escape keeps what others have written from being markup.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "\r", " ", "\n", " ", "[", `\[`, "*", `\*`, "_", `\_`).Replace(s)
}

// CSV writes the tables, each line with its section first.
func (p *Page) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	for _, m := range p.Marks {
		_ = out.Write([]string{"mark", cell(m)})
	}
	_ = out.Write([]string{"title", cell(p.Title)})
	_ = out.Write([]string{"headline", cell(p.Lead)})
	for _, s := range p.Sections {
		for _, t := range s.Says {
			_ = out.Write([]string{cell(s.Title), cell(t)})
		}
		if len(s.Rows) == 0 {
			continue
		}
		for _, r := range append([][]string{s.Head}, s.Rows...) {
			record := []string{cell(s.Title)}
			for _, c := range r {
				record = append(record, cell(c))
			}
			_ = out.Write(record)
		}
	}
	out.Flush()
	return out.Error()
}

// cell keeps somebody else's text from being a formula where the file is opened as
// a sheet. A figure may begin with its sign.
func cell(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) || strings.Trim(s, "+-0123456789.,% ") == "" {
		return s
	}
	return "'" + s
}

// Text writes the page for a terminal.
func (p *Page) Text(w io.Writer) error {
	for _, m := range p.Marks {
		fmt.Fprintln(w, m)
	}
	fmt.Fprintf(w, "%s\n\n%s\n", p.Title, p.Lead)
	for _, s := range p.Sections {
		fmt.Fprintf(w, "\n%s\n", strings.ToUpper(s.Title))
		for _, t := range s.Says {
			fmt.Fprintln(w, "  "+t)
		}
		if len(s.Rows) == 0 {
			continue
		}
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, r := range append([][]string{s.Head}, s.Rows...) {
			line := "  " + strings.Join(r, "\t")
			if !utf8.ValidString(line) {
				line = strings.ToValidUTF8(line, "?")
			}
			fmt.Fprintln(tw, line)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// HTML writes the page as one file that needs nothing else.
func (p *Page) HTML(w io.Writer) error { return page.Execute(w, p) }

var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; margin: .5rem 0 }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; border-bottom: 1px solid #ddd }
.lead { font-size: 1.1rem; font-weight: 600 }
.mark { display: inline-block; background: #b00020; color: #fff; font-weight: 700; padding: .1rem .5rem; margin-right: .5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #eee; vertical-align: top }
ul { margin: .3rem 0; padding-left: 1.2rem }
@media print { body { margin: 0; max-width: none } }
</style>
</head>
<body>
{{range .Marks}}<span class="mark">{{.}}</span>{{end}}
<h1>{{.Title}}</h1>
<p class="lead">{{.Lead}}</p>
{{range .Sections}}<h2>{{.Title}}</h2>
{{if .Says}}<ul>{{range .Says}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{if .Rows}}<table><thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody></table>{{end}}
{{end}}</body>
</html>
`))
