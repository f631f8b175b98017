package draw

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestTell_KnowsSentencesAgain(t *testing.T) {
	for _, x := range []struct{ en, zh string }{
		{"蓝耘 ejected: 30 % errors in 10 s, n=104", "蓝耘 被摘除：10 秒内错误率 30 %，n=104"},
		{"蓝耘 is back: a trial was answered, 2 good probes; its weight ramps", "蓝耘 回来了：一次试探得到回答，2 次探测正常；权重逐步恢复"},
		{"weights 蓝耘/百炼 75/25→0/100: ejected", "权重 蓝耘/百炼 75/25→0/100：已摘除"},
		{"weights 蓝耘/百炼 60/40→75/25: bailian: P90 0.52s against 0.41s; 60s window, n=300", "权重 蓝耘/百炼 60/40→75/25：bailian：P90 0.52s 对比 0.41s；60s 窗口，n=300"},
		{"drill kill: 蓝耘 killed (refuse); the engine has to notice. It ends with R, or in 15m", "演练 kill：蓝耘 被断开（refuse）；引擎必须自己发现。按 R 结束，或 15m 后"},
		{"cutover 0:02.7 (asked within 1:00.0; target 7:00.0), passed; clients failed: 0 of 1204. R restores 蓝耘", "切换 0:02.7（要求1:00.0 内；目标 7:00.0），通过；失败客户 0/1204。R 恢复 蓝耘"},
		{"2 good probes and an answered trial (one every 10s), or `baton restore lanyun`", "2 次探测正常且一次试探得到回答（每 10s 一次），或 `baton restore lanyun`"},
		{"errors as low as the best's 0.1% (now at least 4.0%) and the end of its hold in 12s", "错误率降到最好者的 0.1%（现在至少 4.0%），且保持期在 12s 后结束"},
		{"百炼 for 4s", "百炼 已 4s"},
		{"the other vendors: wanted all healthy for 30s, got 百炼 for 4s", "其他供应商的状态：要求全部正常 30s，实际百炼 已 4s"},
		{"It passes if clients are served well without the vendor, in time (2m), with a success of 0.99 or more.", "通过条件：没有该供应商，客户也及时得到良好服务（2m），成功率不低于 0.99。"},
		{"blackhole of 100 % of attempts, for at most 10m, at lanyun", "对 lanyun 注入 blackhole，100 % 的尝试，最多 10m"},
		{"resumed: weights lanyun=75 bailian=25; 蓝耘 drained by li.wei", "已续上：权重 lanyun=75 bailian=25；蓝耘 由 li.wei 排空"},
		{"spike: 1795 requests/s, 812 admitted, 983 limited, 0 shed, 0 failed; first token P50 310 ms, P99 700 ms", "尖峰：1795 请求/秒，放行 812，限速 983，丢弃 0，失败 0；首字 P50 310 ms，P99 700 ms"},
		{"ACT 2 of 6: The same GPU, quantized. 4-bit weights leave room for every request, and so for the whole queue that the failures had hidden. Load: 26 requests/s, independent arrivals (Poisson)", "第 2 幕，共 6 幕：同一块 GPU，量化后。4 位权重让每个请求都放得下，于是失败曾掩盖的整个队列也放得下。 负载：26 请求/秒，独立到达（泊松）"},
	} {
		if got := chinese.Tell(x.en); got != x.zh {
			t.Errorf("%q\n is told as %q\n want       %q", x.en, got, x.zh)
		}
		if got := english.Tell(x.en); got != x.en {
			t.Errorf("English is changed: %q", got)
		}
	}
}

func TestTell_ShowsWhatItDoesNotKnowAsItCame(t *testing.T) {
	for _, s := range []string{
		"", "x", "the moon is full, and nobody said so", "dial tcp 127.0.0.1:1: connect: connection refused", "100 % of nothing", "((((", ". . . ", "price talk", strings.Repeat("and ; ", 200),
	} {
		if got := chinese.Tell(s); got != s {
			t.Errorf("%q is told as %q", s, got)
		}
	}
	if got := chinese.Tell("蓝耘 ejected: HTTP 599 from somewhere strange"); got != "蓝耘 被摘除：HTTP 599 from somewhere strange" {
		t.Errorf("a reason that is not known is %q", got)
	}
}

var figure = regexp.MustCompile(`[0-9][0-9.:]*[0-9]|[0-9]`)

// sample fills the holes of a form.
func (x *form) sample() string {
	var b strings.Builder
	for i, w := range x.words {
		b.WriteString(w)
		if i < len(x.holes) {
			b.WriteString(map[byte]string{'s': "qq" + string(rune('a'+i)), 'l': "qq" + string(rune('a'+i)), 'n': "9" + string(rune('1'+i)) + ".5"}[x.holes[i]])
		}
	}
	return b.String()
}

func TestTell_EveryFormIsToldWithAllItsNamesAndFigures(t *testing.T) {
	for _, told := range []struct {
		list []form
		tell func(string) string
	}{{chineseForms, chinese.Tell}, {chineseDrills, chinese.Tell}, {chineseResults, chinese.Tell}, {chineseTests, chinese.TellTest}, {chineseCauses, chinese.TellCause}} {
		for _, x := range told.list {
			x.split()
			s := x.sample()
			got := told.tell(s)
			if !strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("%q is told as %q", s, got)
			}
			for i := range x.holes {
				if n := strings.Count(x.zh, "{"+string(rune('1'+i))+"}"); n != 1 {
					t.Errorf("%q has {%d} %d times in %q", x.en, i+1, n, x.zh)
				}
			}
			for _, f := range figure.FindAllString(s, -1) {
				if !strings.Contains(got, strings.TrimSuffix(f, ".")) && len(x.holes) > 0 && strings.HasPrefix(f, "9") {
					t.Errorf("%q loses %s: %q", s, f, got)
				}
			}
		}
	}
}

func TestTell_CausesAndTestsAreToldAndAVendorsOwnWordsAreNot(t *testing.T) {
	for s, want := range map[string]string{
		"the vendor refused the connection":                                                   "供应商拒绝连接",
		"nothing came within the first token time":                                            "首字时限内什么也没来",
		"status 502 without a message":                                                        "状态码 502，没有说明",
		"the answer is not what it should be: not_json":                                       "回答不符合要求：not_json",
		"Rate limit reached for requests.":                                                    "Rate limit reached for requests.",
		"failed: the vendor refused the connection":                                           "failed: the vendor refused the connection",
		"The server is currently overloaded with other requests. (healthy), status 1 refused": "The server is currently overloaded with other requests. (healthy), status 1 refused",
	} {
		if got := chinese.TellCause(s); got != want {
			t.Errorf("the cause %q is told as %q, want %q", s, got, want)
		}
		if got := english.TellCause(s); got != s {
			t.Errorf("English is changed: %q", got)
		}
	}
	for s, want := range map[string]string{
		"OK": "OK（有效）", "TOO-FEW": "TOO-FEW（样本太少）",
		"50 at once: 12 of 300 requests were refused for a rate; too many requests fail; interrupted":          "并发 50：300 个请求中 12 个因速率被拒；失败的请求太多；被中断",
		"5.0/s, as 10 at once achieved: requests left 7.2 ms late (P99), over 5.0 ms":                          "5.0/s（并发 10 时达到的速率）：请求迟发 7.2 ms（P99），超过 5.0 ms",
		"a limit of requests, about 20/s per key, that refuses what is over it (confidence 0.90)":              "请求数限速，每密钥约 20/s，超出的被拒（置信度 0.90）",
		"a limit of tokens, about 6000 tokens/s, that queues what is over it (confidence 0.75)":                "词元数限速，约 6000 词元/秒，超出的排队（置信度 0.75）",
		"a limit of concurrent requests, about 40 per account, that refuses what is over it (confidence 0.90)": "并发请求数限速，每账户约 40，超出的被拒（置信度 0.90）",
		"measuring, 10 at once: 9.8/s, P50 640ms, 90 answers, 3 refused, 1 failed":                             "测量，并发 10：9.8/s，P50 640ms，90 个回答，3 个被拒，1 个失败",
		"looking for a limit: 20 requests/s":                                                                   "寻找限速：20 请求/秒",
	} {
		if got := chinese.TellTest(s); got != want {
			t.Errorf("%q is told as %q, want %q", s, got, want)
		}
	}
}

// What can be said of a failed attempt, and by a stress test, is in the source.
func TestTell_KnowsEveryCauseAndVerdictOfTheSource(t *testing.T) {
	for path, told := range map[string]func(string) string{
		"engine/outcome/transport.go": chinese.TellCause, "engine/outcome/classify.go": chinese.TellCause,
		"drills/stress/summary.go": chinese.TellTest, "drills/stress/run.go": chinese.TellTest,
	} {
		for _, s := range said(t, path) {
			if got := told(s); !strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("%s: %q is shown in English", path, s)
			}
		}
	}
}

// The sentences of a whole form stand among others' in a caption: each has to be known
// by itself.
func TestTell_AWholeFormHasAsManySentencesInBothLanguages(t *testing.T) {
	for _, list := range [][]form{chineseForms, chineseDrills, chineseResults, chineseTests} {
		for _, x := range list {
			if x.split(); len(x.holes) == 0 && strings.Count(x.en, ". ") != strings.Count(x.zh, "。") {
				t.Errorf("%q and %q", x.en, x.zh)
			}
		}
	}
}

func TestTell_NoFormStandsTwice(t *testing.T) {
	for _, told := range [][][]form{{chineseForms, chineseDrills, chineseResults}, {chineseTests}, {chineseCauses}} {
		seen := map[string]bool{}
		for _, x := range slices.Concat(told...) {
			if seen[x.en] {
				t.Errorf("%q stands twice", x.en)
			}
			seen[x.en] = true
		}
	}
}

func TestTell_IsQuickEnoughForEveryFrame(t *testing.T) {
	f := newForms(chineseForms, chineseDrills, chineseResults)
	begun := time.Now()
	for range 100 {
		f.told = map[string]string{}
		f.tell("nothing; of, this: is. known and nothing (of it) is; ever said: by, any engine. and so on")
	}
	if d := time.Since(begun) / 100; d > 50*time.Millisecond {
		t.Errorf("a sentence takes %s", d)
	}
}

func TestWrap_BreaksBesideIdeographsAndNotBeforeTheirPunctuation(t *testing.T) {
	lines := Wrap("演练 kill-primary：记录基线 15s，然后对 蓝耘 注入 refuse。", 20)
	for _, l := range lines {
		if Width(l) > 20 || strings.HasPrefix(l, "，") || strings.HasPrefix(l, "。") {
			t.Errorf("%q of %q", l, lines)
		}
	}
	if len(lines) > 3 {
		t.Errorf("lines are not filled: %q", lines)
	}
}

func TestWrap_KeepsALatinCommaWithAName(t *testing.T) {
	for w := 20; w < 60; w++ {
		for _, l := range Wrap("A fault goes into the path to 蓝耘, whose weight is 75% (蓝耘).", w) {
			if strings.HasPrefix(l, ",") || strings.HasPrefix(l, ")") || strings.HasPrefix(l, ".") || strings.HasSuffix(l, "(") {
				t.Errorf("at %d cells: %q", w, l)
			}
		}
	}
}

func BenchmarkTell(b *testing.B) {
	f := newForms(chineseForms, chineseDrills, chineseResults)
	b.ReportAllocs()
	for b.Loop() {
		clear(f.told)
		f.tell("weights 蓝耘/百炼 60/40→75/25: bailian: P90 0.52s against 0.41s; 60s window, n=300")
	}
}
