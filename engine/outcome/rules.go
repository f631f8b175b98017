package outcome

import "strings"

// common are the rules that hold at every vendor; a dialect's come first. They
// follow what OpenAI, Azure, Groq, Together, Fireworks, OpenRouter and servers that
// imitate them send. Messages are looked at only where no code says it.
var common = []Rule{
	// Content. Before all else: these come as 400 with a generic type.
	{Code: "content_filter*", Class: Filtered},
	{Code: "content_policy_violation", Class: Filtered},
	{Code: "ResponsibleAIPolicyViolation", Class: Filtered},
	{Code: "data_inspection_failed", Class: Filtered},
	{Code: "DataInspectionFailed", Class: Filtered},

	// The context. Together says it with a 403, others with 400, 413 or 422.
	{Code: "context_length_exceeded", Class: ContextOverflow},
	{Status: 400, Message: "maximum context length", Class: ContextOverflow},
	{Status: 403, Message: "maximum context length", Class: ContextOverflow},
	{Status: 413, Message: "maximum context length", Class: ContextOverflow},
	{Status: 422, Message: "maximum context length", Class: ContextOverflow},
	{Status: 400, Message: "context length", Class: ContextOverflow},
	{Status: 403, Message: "context length", Class: ContextOverflow},
	{Status: 422, Message: "context length", Class: ContextOverflow},
	{Status: 400, Message: "context window", Class: ContextOverflow},
	{Status: 400, Message: "prompt is too long", Class: ContextOverflow},
	{Status: 403, Message: "max_new_tokens", Class: ContextOverflow},

	// Money, whatever the status.
	{Code: "credit_balance_exhausted", Class: Billing},
	{Code: "insufficient_quota", Class: Billing},
	{Code: "billing_*", Class: Billing},
	{Code: "insufficient_balance", Class: Billing},
	{Code: "account_deactivated", Class: Billing},
	{Status: 412, Message: "suspended", Class: Billing},
	{Status: 402, Class: Billing},

	// Keys.
	{Code: "invalid_api_key", Class: Auth},
	{Code: "incorrect_api_key_error", Class: Auth},
	{Code: "authentication_error", Class: Auth},
	{Code: "permission_error", Class: Permission},
	{Code: "permission_denied", Class: Permission},

	// Models.
	{Code: "model_not_found", Class: BadModel},
	{Code: "ModelNotFound", Class: BadModel},
	{Code: "model_not_supported", Class: BadModel},
	{Code: "DeploymentNotFound", Class: BadModel},
	{Status: 404, Message: "model", Class: BadModel},
	{Status: 400, Message: "model not exist", Class: BadModel},
	{Status: 400, Message: "model does not exist", Class: BadModel},
	{Status: 400, Message: "is not a valid model", Class: BadModel},
	{Status: 412, Message: "not loaded", Class: BadModel},

	{Code: "slow_down", Class: RateSlope}, // has come as 503 too

	// Too much at the vendor, as against too much from us.
	{Code: "server_is_overloaded", Class: Overload},
	{Code: "overloaded_error", Class: Overload},
	{Code: "engine_overloaded*", Class: Overload},
	{Code: "ServerOverloaded", Class: Overload},
	{Code: "capacity_exceeded", Class: Overload},
	{Status: 498, Class: Overload},
	{Status: 529, Class: Overload},
	{Status: 429, Message: "overloaded", Class: Overload},
	{Status: 500, Message: "overloaded", Class: Overload},
	{Status: 503, Message: "loading model", Class: Server},
	{Status: 503, Class: Overload},

	// Too much from us.
	{Status: 429, Code: "tokens", Class: RateTokens},
	{Status: 429, Message: "tokens per min", Class: RateTokens},
	{Status: 429, Message: "concurren", Class: RateConcurrency},
	{Code: "rate_limit_exceeded", Class: Rate},
	{Code: "rate_limit_error", Class: Rate},

	{Status: 401, Class: Auth},
	{Status: 403, Class: Permission},
	{Status: 408, Class: Timeout},
	{Status: 413, Class: TooLarge},
	{Status: 429, Class: Rate},
	{Status: 499, Class: Server},
	{Status: 504, Class: Timeout},
	{Status: 524, Class: Timeout},

	// Types that come without a status, inside a stream.
	{Code: "invalid_request_error", Class: BadRequest},
	{Code: "BadRequestError", Class: BadRequest},
	{Code: "NotFoundError", Class: BadModel},
}

// matches reports whether the rule holds of an error. noisy: codes say nothing.
func (r *Rule) matches(status int, e *refusal, noisy bool) bool {
	if r.Status != 0 && r.Status != status {
		return false
	}
	if r.Code != "" && (noisy || !codeIs(r.Code, e.code)) && !codeIs(r.Code, e.typ) {
		return false
	}
	return r.Message == "" || contains(e.message, r.Message)
}

func codeIs(rule, code string) bool {
	if prefix, ok := strings.CutSuffix(rule, "*"); ok {
		return len(code) >= len(prefix) && strings.EqualFold(code[:len(prefix)], prefix)
	}
	return strings.EqualFold(rule, code)
}

// contains is strings.Contains without regard to the case of ASCII letters.
func contains(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// classOf finds the class of an error, and the rule's scope if it has one.
func classOf(d *Dialect, status int, e *refusal) (Class, *Scope) {
	if e.html && (status == 403 || status == 404 || status == 405) {
		// Something in front of the vendor says so, and knows neither its keys nor its models.
		return Server, nil
	}
	for _, rules := range [][]Rule{d.Rules, common} {
		for i := range rules {
			if rules[i].matches(status, e, d.CodesAreNoise) {
				return rules[i].Class, rules[i].Scope
			}
		}
	}
	switch {
	case status >= 500, status == 0, status >= 200 && status < 300:
		return Server, nil
	case status >= 400:
		return BadRequest, nil
	}
	return Broken, nil // a redirect: nobody asked for one
}

// unexplained says that a 404 or 405, of this class as far as it went by the rules, names
// nothing that could be missing: no code, no parameter, no model. It is then the path
// that is missing.
func unexplained(d *Dialect, status int, c Class, e *refusal) bool {
	if status != 404 && status != 405 || e.param != "" || !d.CodesAreNoise && !saysNothing(e.code) {
		return false
	}
	switch c {
	case BadRequest:
		return true
	case BadModel: // by a type that is used for paths, too
		return saysNothing(e.typ) && !contains(e.message, "model") && !strings.Contains(e.message, "模型")
	}
	return false
}

// saysNothing recognises the codes and types that only repeat the status.
func saysNothing(code string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(code))
	switch plain {
	case "", "notfound", "notfounderror", "resourcenotfound", "resourcenotfounderror", "pagenotfound", "pathnotfound", "routenotfound",
		"unknownurl", "invalidurl", "methodnotallowed", "invalidrequest", "invalidrequesterror", "badrequest", "unknownerror":
		return true
	}
	return isHTTPStatus(plain)
}

// effect is what follows from a class.
type effect struct {
	outcome   Outcome
	status    int // of an error inside a 200
	limit     LimitClass
	account   string
	scope     Scope
	retrySame bool
	move      bool
}

var effects = [classes]effect{
	Unclassed:       {outcome: VendorFault, status: 502, move: true},
	Rate:            {outcome: RateLimited, status: 429, limit: LimitRPS, move: true},
	RateSlope:       {outcome: RateLimited, status: 429, limit: LimitSlope, move: true},
	RateTokens:      {outcome: RateLimited, status: 429, limit: LimitTokens, move: true},
	RateConcurrency: {outcome: RateLimited, status: 429, limit: LimitConcurrency, move: true},
	Overload:        {outcome: VendorFault, status: 503, retrySame: true, move: true},
	Server:          {outcome: VendorFault, status: 500, retrySame: true, move: true},
	Timeout:         {outcome: VendorFault, status: 504, move: true},
	Connection:      {outcome: VendorFault, retrySame: true, move: true},
	Broken:          {outcome: VendorFault, retrySame: true, move: true},
	Auth:            {outcome: AccountFault, status: 401, account: "auth", scope: ScopeKey, move: true},
	Billing:         {outcome: AccountFault, status: 402, account: "billing", scope: ScopeVendor, move: true},
	Permission:      {outcome: AccountFault, status: 403, account: "permission", scope: ScopeKey, move: true},
	BadModel:        {outcome: ConfigFault, status: 404, scope: ScopeModel, move: true},
	BadPath:         {outcome: ConfigFault, status: 404, scope: ScopeVendor, move: true},
	BadRequest:      {outcome: ClientFault, status: 400},
	ContextOverflow: {outcome: ClientFault, status: 400},
	TooLarge:        {outcome: ClientFault, status: 413},
	Filtered:        {outcome: ContentFilter, status: 400},
	Cancelled:       {outcome: ClientCancel},
	Ours:            {outcome: GatewayFault},
}
