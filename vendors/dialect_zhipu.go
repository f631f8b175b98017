package vendors

import "baton/engine/outcome"

// zhipu has business codes, which are strings of digits; nearly everything else comes
// as 429, bills too. It limits requests at once, per model and account.
// https://docs.bigmodel.cn/cn/faq/api-code
var zhipu = outcome.Dialect{
	Name: "zhipu",
	Rules: []outcome.Rule{
		{Code: "100*", Class: outcome.Auth},
		{Code: "1110", Class: outcome.Permission, Scope: theVendor}, // account inactive
		{Code: "1111", Class: outcome.Permission, Scope: theVendor}, // no such account
		{Code: "1112", Class: outcome.Permission, Scope: theVendor}, // account locked
		{Code: "1113", Class: outcome.Billing},
		{Code: "1211", Class: outcome.BadModel},
		{Code: "1212", Class: outcome.BadModel}, // not in this way of calling
		{Code: "1220", Class: outcome.Permission},
		{Code: "1221", Class: outcome.BadModel},
		{Code: "1222", Class: outcome.BadModel},
		{Code: "1234", Class: outcome.Server},
		{Code: "1261", Class: outcome.ContextOverflow},
		{Code: "1300", Class: outcome.Filtered},
		{Code: "1301", Class: outcome.Filtered},
		{Code: "121*", Class: outcome.BadRequest},

		{Code: "1302", Class: outcome.RateConcurrency},
		{Code: "1303", Class: outcome.Rate},
		{Code: "1304", Class: outcome.Rate}, // the day's calls
		{Code: "1305", Class: outcome.Overload},
		{Code: "1312", Class: outcome.Overload},
		{Code: "1308", Class: outcome.RateTokens}, // a plan's quota: the message has the time of its reset
		{Code: "1310", Class: outcome.RateTokens},
		{Code: "1309", Class: outcome.Billing},                     // the plan ran out
		{Code: "1311", Class: outcome.Permission, Scope: theModel}, // the plan lacks the model

		{Status: 434, Class: outcome.Permission},
		{Status: 435, Class: outcome.TooLarge},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"X-Log-Id", "X-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
}
