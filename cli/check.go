package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	return &cobra.Command{
		Use: "check", Short: "Check the configuration, and that every vendor can be reached with its keys", Args: cobra.NoArgs,
		Long:    "Read the configuration, ask every vendor for its list of models with each of its keys (which costs nothing), and say what would hurt: a vendor that cannot be reached, a key that is refused, a model that only one vendor has, a secret in the file itself. Exit 0: nothing, 1: something, 2: the configuration is wrong.",
		Example: "  baton check\n  baton check --config /etc/baton/config.toml",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			bad := a.checkVendors(cfg)
			for _, w := range append(warnings(cfg), scenarioMistakes(cfg)...) {
				fmt.Fprintln(a.out, "warning:", w)
				bad = true
			}
			if bad {
				return exitCode(exitNo)
			}
			fmt.Fprintln(a.out, "all is well")
			return nil
		},
	}
}

// checkVendors asks every vendor with each key and says whether one did not
// answer.
func (a *app) checkVendors(cfg *config.Config) (bad bool) {
	set, err := vendors.Open(cfg, vendors.Options{SimURL: func(string) string { return "http://127.0.0.1:1/v1" }})
	if err != nil {
		fmt.Fprintln(a.out, err)
		return true
	}
	defer set.Close()
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		if vc.Simulate != "" {
			fmt.Fprintf(a.out, "%s SIMULATED, nothing to reach\n", pad(vc.Name, 16))
			continue
		}
		v := set.Vendor(vc.Name)
		for _, key := range v.Keys.All() {
			said := checkKey(v, key)
			bad = bad || said != ""
			if said == "" {
				said = "answers"
			}
			fmt.Fprintf(a.out, "%s %s %s\n", pad(vc.Name, 16), pad("key "+key.ID, 12), said)
		}
	}
	return bad
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
