package outcome

// usage reads a usage object in any of the vendors' spellings:
//
//	prompt_tokens, completion_tokens      OpenAI, completions and embeddings
//	input_tokens, output_tokens           Responses API, DashScope native, Anthropic
//	*_tokens_details.cached_tokens        OpenAI, Bailian, vLLM
//	prompt_cache_hit_tokens               DeepSeek, SiliconFlow
//	cached_tokens                         Moonshot
//	*_tokens_details.reasoning_tokens     all
//
// null is no usage and leaves *u alone.
func (r *reader) usage(u *Usage) {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	got := Usage{}
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			set(&got.Input, number(r.cur.Skip()), &got)
		case "completion_tokens", "output_tokens":
			set(&got.Output, number(r.cur.Skip()), &got)
		case "total_tokens":
			set(nil, number(r.cur.Skip()), &got)
		case "prompt_cache_hit_tokens", "cached_tokens":
			set(&got.Cached, number(r.cur.Skip()), &got)
		case "reasoning_tokens":
			set(&got.Reasoning, number(r.cur.Skip()), &got)
		case "prompt_tokens_details", "input_tokens_details":
			r.usageDetails(&got)
		case "completion_tokens_details", "output_tokens_details":
			r.usageDetails(&got)
		default:
			r.cur.Skip()
		}
	}
	if got.Has {
		*u = got
	}
}

func (r *reader) usageDetails(u *Usage) {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "cached_tokens":
			set(&u.Cached, number(r.cur.Skip()), u)
		case "reasoning_tokens":
			set(&u.Reasoning, number(r.cur.Skip()), u)
		default:
			r.cur.Skip()
		}
	}
}

// set keeps the larger of two spellings: a vendor that has both leaves one at 0.
func set(field *int, n int, u *Usage) {
	u.Has = true
	if field != nil && n > *field {
		*field = n
	}
}

// maxCount bounds what a vendor may claim to have counted, so that sums stay sums.
const maxCount = 1 << 40

// number reads a JSON number, or a string of digits, as a count: fractions are cut,
// what is negative, no number or absurd is 0.
func number(v []byte) int {
	if len(v) > 1 && v[0] == '"' {
		v = v[1 : len(v)-1]
	}
	n := 0
	for i, ch := range v {
		if ch == '.' && i > 0 {
			break
		}
		if ch < '0' || ch > '9' || n > maxCount {
			return 0
		}
		n = n*10 + int(ch-'0')
	}
	return n
}
