package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton/drills"
	"baton/engine/config"
	"baton/engine/control"
	"baton/vendors"
)

// checkPatience is how long a vendor may take to answer a check.
const checkPatience = 10 * time.Second

func (a *app) checkCommand() *cobra.Command {
	var f struct {
		compare, yes, json bool
		model              string
	}
	c := &cobra.Command{
		Use: "check", Short: "Check the configuration, and that every vendor can be reached with its keys", Args: cobra.NoArgs,
		Long: "Read the configuration, ask every vendor for its list of models with each of its keys (which costs nothing), and say what would hurt: a vendor that cannot be reached, a key that is refused, a model that only one vendor has, a secret in the file itself.\n" +
			"With --compare every vendor is then asked the same small question once, and their answers stand side by side: what answered, how fast, what was counted, how it ended, and what of that differs so that a failover would be felt. Real vendors cost money for it: it says how much at most and asks, unless --yes.\n" +
			"Exit 0: nothing, 1: something, 2: the configuration is wrong, or it could not be run.",
		Example: "  baton check\n  baton check --config /etc/baton/config.toml\n  baton check --compare --model deepseek-v3 --yes",
		RunE: func(*cobra.Command, []string) error {
			if !f.compare && (f.yes || f.model != "") {
				return errors.New("--yes and --model belong to --compare")
			}
			cfg, err := a.config()
			if err != nil {
				return err
			}
			doc := Checked{Vendors: checkVendors(cfg), Warnings: append(warnings(cfg), scenarioMistakes(cfg)...)}
			if !f.json {
				doc.write(a.out)
			}
			if f.compare {
				if doc.Compare, err = a.compare(cfg, f.model, f.yes); err != nil {
					return err
				}
				if !f.json {
					writeComparison(a.out, doc.Compare)
				}
			}
			if doc.Well = doc.well(); f.json {
				if err := a.printJSON(&doc); err != nil {
					return err
				}
			} else if doc.Well {
				fmt.Fprintln(a.out, "all is well")
			}
			if !doc.Well {
				return exitCode(exitNo)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&f.compare, "compare", false, "ask every vendor the same small question and hold the answers against each other")
	c.Flags().StringVar(&f.model, "model", "", "of --compare: what is asked for (default: the first that each vendor has)")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "of --compare: do not ask whether real vendors may be paid")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// Checked is what `baton check` found.
type Checked struct {
	Well     bool        `json:"well"`
	Vendors  []CheckedOf `json:"vendors"`
	Warnings []string    `json:"warnings"`
	Compare  *Comparison `json:"compare"` // null: not asked for
}

// CheckedOf is one vendor with one of its keys.
type CheckedOf struct {
	Vendor    string `json:"vendor"`
	Key       string `json:"key"` // its last letters
	Simulated bool   `json:"simulated"`
	OK        bool   `json:"ok"`
	Says      string `json:"says"`
}

// well says whether nothing was found that would hurt.
func (d *Checked) well() bool {
	for i := range d.Vendors {
		if !d.Vendors[i].OK {
			return false
		}
	}
	if len(d.Warnings) > 0 {
		return false
	}
	return d.Compare == nil || !slices.ContainsFunc(d.Compare.Differences, func(x Difference) bool { return x.Hurts })
}

func (d *Checked) write(w io.Writer) {
	for i := range d.Vendors {
		v := &d.Vendors[i]
		switch {
		case v.Simulated:
			fmt.Fprintf(w, "%s SIMULATED, nothing to reach\n", pad(v.Vendor, 16))
		case v.Vendor == "":
			fmt.Fprintln(w, v.Says)
		default:
			fmt.Fprintf(w, "%s %s %s\n", pad(v.Vendor, 16), pad("key "+v.Key, 12), v.Says)
		}
	}
	for _, s := range d.Warnings {
		fmt.Fprintln(w, "warning:", s)
	}
}

// checkVendors asks every vendor with each key.
func checkVendors(cfg *config.Config) (out []CheckedOf) {
	set, err := vendors.Open(cfg, vendors.Options{SimURL: func(string) string { return "http://127.0.0.1:1/v1" }})
	if err != nil {
		return []CheckedOf{{Says: err.Error()}}
	}
	defer set.Close()
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		if vc.Simulate != "" {
			out = append(out, CheckedOf{Vendor: vc.Name, Simulated: true, OK: true, Says: "simulated"})
			continue
		}
		v := set.Vendor(vc.Name)
		for _, key := range v.Keys.All() {
			said := checkKey(v, key)
			ok := said == ""
			if ok {
				said = "answers"
			}
			out = append(out, CheckedOf{Vendor: vc.Name, Key: key.ID, OK: ok, Says: said})
		}
	}
	return out
}

// checkKey says what is wrong with a vendor or its key, "" if nothing is.
func checkKey(v *vendors.Vendor, key *vendors.Key) string {
	ctx, cancel := context.WithTimeout(context.Background(), checkPatience)
	defer cancel()
	err := v.Probe(ctx, key)
	if err == nil || errors.Is(err, vendors.ErrNoProbe) {
		return ""
	}
	if account, ok := errors.AsType[*vendors.AccountError](err); ok {
		return fmt.Sprintf("answers %d: the key, the bill or a permission", account.Status)
	}
	return "does not answer: " + err.Error()
}

// warnings are what is allowed and may hurt.
func warnings(cfg *config.Config) []string {
	var out []string
	carriers := 0
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		if vc.Role != config.Candidate {
			carriers++
		}
		for _, k := range vc.APIKeys {
			if k.Literal() {
				out = append(out, fmt.Sprintf("vendor %s: a key stands in the file itself; env:NAME or file:PATH keep it out", vc.Name))
				break
			}
		}
		u, err := url.Parse(vc.BaseURL)
		if err != nil || vc.BaseURL == "" {
			continue
		}
		if u.Scheme == "http" && vc.Real() && len(vc.APIKeys) > 0 {
			out = append(out, fmt.Sprintf("vendor %s: http:// sends the key in the clear", vc.Name))
		}
		if q := strings.ToLower(u.RawQuery); strings.Contains(q, "key=") || strings.Contains(q, "token=") {
			out = append(out, fmt.Sprintf("vendor %s: base_url carries what looks like a secret in its query", vc.Name))
		}
	}
	if carriers == 1 {
		out = append(out, "there is one vendor: nobody is left when it fails")
	}
	if carriers > 1 {
		out = append(out, oneHome(cfg)...)
	}
	return out
}

// scenarioMistakes is what is wrong with the user's own scenarios; of an engine that
// runs, the drill machine says it.
func scenarioMistakes(cfg *config.Config) []string {
	_, wrong := drills.Own(drills.OwnDir(cfg.Path))
	out := make([]string, len(wrong))
	for i, m := range wrong {
		out[i] = "a scenario cannot be used: " + m.Error()
	}
	return out
}

// oneHome names the models that are lost with one vendor.
func oneHome(cfg *config.Config) []string {
	var out []string
	for i := range cfg.Models {
		var homes []string
		for j := range cfg.Vendors {
			if _, ok := cfg.Models[i].NameAt(cfg.Vendors[j].Name); ok && cfg.Vendors[j].Role != config.Candidate {
				homes = append(homes, cfg.Vendors[j].Name)
			}
		}
		if len(homes) == 1 {
			out = append(out, fmt.Sprintf("model %s has one home, %s: it is lost with it", cfg.Models[i].Name, homes[0]))
		}
	}
	return out
}

// warnOf puts the configuration's warnings into the journal.
func (p *process) warnOf(cfg *config.Config) {
	for _, w := range warnings(cfg) {
		p.hub.Log(control.Event{Level: control.Warn, Kind: "config", Text: w})
	}
}
