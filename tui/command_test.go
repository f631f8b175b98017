package tui

import (
	"errors"
	"testing"

	"baton/tui/draw"
)

var english = draw.Language("en", nil)

func TestCommand_HasTheGrammarOfTheCommandLine(t *testing.T) {
	s := made(2)
	for _, c := range []struct{ in, want, err string }{
		{"weights lanyun=70 bailian=30", "baton weights lanyun=70 bailian=30", ""},
		{"baton weights 蓝耘=70% 2=30 --for 15m --reason \"price talk\"", "baton weights lanyun=70 bailian=30 --for 15m --reason \"price talk\"", ""},
		{"weights auto", "baton weights auto", ""},
		{"kill lanyun", "baton kill lanyun", ""},
		{"kill 2 --fault http_503 --for 5m", "baton kill bailian --fault http_503 --for 5m", ""},
		{"restore lanyun", "baton restore lanyun", ""},
		{"drain bailian --now", "baton drain bailian --now", ""},
		{"undrain bailian", "baton undrain bailian", ""},
		{"enable bailian", "baton enable bailian", ""},
		{"limits set bailian 20", "baton limits set bailian 20", ""},
		{"limits forget bailian", "baton limits forget bailian", ""},
		{"drill run kill-primary --note x", "baton drill run kill-primary", ""},
		{"drill abort", "baton drill abort", ""},
		{"drill run kill 2 --for 5m", "baton kill bailian --for 5m", ""},
		{"drill mark", "baton drill mark", ""},
		{"drill mark 2", "baton drill mark 2", ""},
		{"drill cancel s1", "baton drill cancel s1", ""},
		{"failover auto", "baton failover auto", ""},
		{"failover manual", "baton failover manual", ""},
		{"failover manual 30m", "baton failover manual --for 30m", ""},
		{"failover manual --for 1h", "baton failover manual --for 1h", ""},
		{"sim lanyun first_token=900ms errors=0.2 down=true", "baton sim set lanyun down=true errors=0.2 first_token=900ms", ""},
		{"sim set 2 capacity=40", "baton sim set bailian capacity=40", ""},
		{"failover", "", "failover auto, or failover manual --for 30m"},
		{"failover manual soon", "", `--for "soon" is no duration such as 15m`},
		{"sim lanyun", "", "sim VENDOR NAME=VALUE..., such as sim lanyun first_token=900ms"},
		{"sim lanyun fast", "", `"fast" is no NAME=VALUE`},
		{"drill mark x", "", `"x" is no line of the checklist`},
		{"drill run kill-primary --countdown never", "", `--countdown "never" is no duration such as 15m`},
		{"reload", "POST /api/v1/reload", ""},
		{"weights lanyun=70", "", "weights sum to 70, not 100"},
		{"weights lanyun=seventy bailian=30", "", `a weight is a number from 0 to 100, not "seventy"`},
		{"weights lanyun=NaN bailian=30", "", `a weight is a number from 0 to 100, not "NaN"`},
		{"weights", "", "weights needs NAME=PERCENT for every vendor, or auto"},
		{"kill openai", "", `no vendor is called "openai"; there are lanyun, bailian`},
		{"kill", "", "kill needs a vendor: lanyun, bailian"},
		{"kill lanyun --for soon", "", `--for "soon" is no duration such as 15m`},
		{"restore lanyun --now", "", `restore takes no "--now"`},
		{"restore lanyun bailian", "", `restore takes no "bailian"`},
		{"explode", "", `no command is called "explode"; there are weights, kill, restore, drain, undrain, enable, limits, failover, drill, sim, stress, costs, overrides, status, failures, reload, help, quit`},
		{"dran bailian", "", `no command is called "dran"; did you mean drain?`},
		{"drill histroy", "", `no command is called "drill histroy"; did you mean drill history?`},
		{"drain bailain", "", `no vendor is called "bailain"; did you mean bailian?`},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := parseCommand(c.in, s, english)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got.Line() != c.want {
				t.Errorf("%v, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := parseCommand("quit", s, english); !errors.Is(err, errQuit) {
		t.Errorf("quit: %v", err)
	}
}

func FuzzCommand(f *testing.F) {
	for _, s := range []string{"weights lanyun=70 bailian=30 --for 15m", `x "a b`, "--", "limits set", "drill", "kill --for=1h 蓝耘"} {
		f.Add(s)
	}
	snap := made(2)
	f.Fuzz(func(t *testing.T, line string) {
		c, err := parseCommand(line, snap, english)
		if err == nil && c == nil {
			t.Errorf("%q is neither a command nor an error", line)
		}
	})
}
