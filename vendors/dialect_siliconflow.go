package vendors

import "baton/engine/outcome"

// siliconflow answers flat objects with codes of its own, or a bare JSON string.
// Its limits are per account and model, and the message names which.
// https://docs.siliconflow.cn/cn/faqs/error-code
var siliconflow = outcome.Dialect{
	Name: "siliconflow",
	Rules: []outcome.Rule{
		{Code: "20012", Class: outcome.BadModel},
		{Code: "30003", Class: outcome.BadModel},
		{Message: "Model does not exist", Class: outcome.BadModel},
		{Message: "Model disabled", Class: outcome.BadModel},
		{Code: "30001", Class: outcome.Billing},
		{Message: "balance is insufficient", Class: outcome.Billing},
		{Message: "Invalid token", Class: outcome.Auth},
		{Message: "Api key is invalid", Class: outcome.Auth},
		{Message: "must be less than max_seq_len", Class: outcome.ContextOverflow},
		{Status: 403, Message: "余额", Class: outcome.Billing},
		{Status: 403, Message: "balance", Class: outcome.Billing},
		// 50505 and its neighbours: the model's service is overloaded.
		{Code: "505*", Class: outcome.Overload},
		{Status: 504, Class: outcome.Overload},
		{Status: 429, Message: "TPM", Class: outcome.RateTokens},
		{Status: 429, Message: "TPD", Class: outcome.RateTokens},
		{Status: 429, Message: "overloaded", Class: outcome.Overload},
		{Status: 429, Class: outcome.Rate},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"X-Siliconcloud-Trace-Id", "X-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
}
