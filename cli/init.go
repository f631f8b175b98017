package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// The parts of the built-in configuration that a new one takes over: from one
// mark to the other.
const (
	settingsMark = "# The OpenAI-compatible API that your programs talk to."
	modelsMark   = "# What clients ask for."
)

// initHead and initVendors stand around the settings in a new configuration.
const (
	initHead = `# baton's configuration. The two vendors are at the end: put your own there.
# Every value above them is the default; what you do not change can go.
#
#   baton check     whether this file is right and every vendor answers
#   baton           console and engine
#
# Secrets are written "env:NAME" or "file:PATH". A mistake is reported with its
# line, and nothing starts on a file that has one.

`
	initVendors = `# What clients ask for, and its name at each vendor. context, in tokens, is what
# a vendor's model can hold: an overflow moves only to a larger one.
[[models]]
name    = "deepseek-v3"
lanyun  = "/maas/deepseek-ai/DeepSeek-V3"
bailian = "deepseek-v3"
context = { lanyun = 65536, bailian = 131072 }

# The vendors. Weights are percentages of all traffic and sum to 100; a weight
# stays inside its band while everyone is healthy, so the secondary is always
# warm. dialect is how a vendor spells errors: openai, bailian, deepseek,
# siliconflow, zhipu, moonshot, ark, vllm, azure. What a vendor charges goes
# into [[vendors.price]], per million tokens; without it its cost is unpriced.
[[vendors]]
name     = "lanyun"
label    = "蓝耘"
role     = "primary"
dialect  = "openai"
base_url = "https://maas-api.lanyun.net/v1"
api_keys = ["env:LANYUN_API_KEY"]
weight   = 75
band     = [70, 80]

[[vendors]]
name     = "bailian"
label    = "百炼"
role     = "secondary"
dialect  = "bailian"
base_url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
api_keys = ["env:DASHSCOPE_API_KEY"]
weight   = 25
band     = [20, 30]
`
)

func (a *app) initCommand() *cobra.Command {
	var simulated bool
	c := &cobra.Command{
		Use: "init [FILE]", Short: "Write a configuration to begin with", Args: cobra.MaximumNArgs(1),
		Long:    "Write a commented configuration with two real vendors to FILE, or to the file that --config names (default config.toml), readable by you alone. A file that is there already stays as it is. FILE - writes to the terminal.",
		Example: "  baton init\n  baton init --simulated demo.toml\n  baton init - | less",
		RunE: func(_ *cobra.Command, args []string) error {
			path := "config.toml"
			if a.configPath != "" {
				path = a.configPath
			}
			if len(args) == 1 {
				path = args[0]
			}
			text := string(a.builtin)
			if !simulated {
				var err error
				if text, err = newConfig(text); err != nil {
					return err
				}
			}
			if path == "-" {
				_, err := fmt.Fprint(a.out, text)
				return err
			}
			if err := writeNew(path, text); err != nil {
				return err
			}
			if simulated {
				fmt.Fprintf(a.out, "wrote %s: two simulated vendors, no key needed\nnext: baton --config %s\n", path, path)
				return nil
			}
			fmt.Fprintf(a.out, "wrote %s: set LANYUN_API_KEY and DASHSCOPE_API_KEY, or put your own vendors at its end\nnext: baton check --config %s, then baton --config %s\n", path, path, path)
			return nil
		},
	}
	c.Flags().BoolVar(&simulated, "simulated", false, "the built-in configuration: simulated vendors, no key")
	return c
}

// newConfig is the built-in configuration with real vendors.
func newConfig(builtin string) (string, error) {
	_, rest, found := strings.Cut(builtin, settingsMark)
	settings, _, also := strings.Cut(rest, modelsMark)
	if !found || !also {
		return "", errors.New("write a configuration: the built-in one has not the parts that it should have")
	}
	return initHead + settingsMark + settings + initVendors, nil
}

// writeNew writes a file that is not there yet, whole or not at all.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and stays as it is: name another file, or move it away", path)
	}
	if err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
