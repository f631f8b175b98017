package draw

// chineseForms are the forms of what engine, limits and law say.
var chineseForms = []form{
	// states and other single words
	{en: "healthy", zh: "正常"}, {en: "degraded", zh: "降级"}, {en: "ejected", zh: "已摘除"}, {en: "recovering", zh: "恢复中"}, {en: "drained", zh: "已排空"}, {en: "disabled", zh: "已停用"},
	{en: "none", zh: "无"}, {en: "auto", zh: "自动"}, {en: "manual", zh: "手动"}, {en: "out of service", zh: "不在服务中"}, {en: "in flight", zh: "在途"},
	{en: "passed", zh: "通过"}, {en: "failed", zh: "未通过"}, {en: "refused", zh: "被拒绝"}, {en: "aborted", zh: "已中止"}, {en: "inconclusive", zh: "无法判定"},
	{en: "cutover", zh: "切换"}, {en: "containment", zh: "遏制"}, {en: "recovery", zh: "恢复"},

	// health
	{en: "%s ejected: %s", zh: "{1} 被摘除：{2}"}, {en: "%s is back: %s; its weight ramps", zh: "{1} 回来了：{2}；权重逐步恢复"}, {en: "%s healthy again", zh: "{1} 恢复正常"},
	{en: "%s fails and is the last vendor: it is kept (%s)", zh: "{1} 失败，但它是最后一家供应商：保留（{2}）"},
	{en: "failover is manual: its weight stays until somebody moves it", zh: "手动切换：权重不动，直到有人移动它"}, {en: "its weight stays: an overriding pin, or observing", zh: "权重不动：强制手动权重或观察模式"},
	{en: "%n % errors in 10 s, n=%n", zh: "10 秒内错误率 {1} %，n={2}"}, {en: "%n connection failures in a row", zh: "连续 {1} 次连接失败"}, {en: "%n failures in a row", zh: "连续 {1} 次失败"},
	{en: "%n failed probes in a row and %n live", zh: "连续 {1} 次探测失败，实际请求失败 {2} 次"},
	{en: "%n streams waited over %n, no success in 5s", zh: "{1} 个流等待超过 {2}，5 秒内无一成功"}, {en: "%n whole answers waited over %n, no success in 5s", zh: "{1} 个完整回答等待超过 {2}，5 秒内无一成功"},
	{en: "%n streams waited over %n and %n whole answers over %n, no success in 5s", zh: "{1} 个流等待超过 {2}，{3} 个完整回答超过 {4}，5 秒内无一成功"},
	{en: "a trial was answered", zh: "一次试探得到回答"}, {en: "a trial was answered, %n good probes", zh: "一次试探得到回答，{1} 次探测正常"}, {en: "%n trials were answered, though probes fail", zh: "{1} 次试探得到回答，但探测失败"},
	{en: "ramp of %n done", zh: "{1} 的渐进恢复已完成"}, {en: "restored", zh: "已恢复"},
	{en: "%s; the last vendor is never ejected", zh: "{1}；最后一家供应商从不摘除"}, {en: "errors %n in 60 s", zh: "60 秒错误率 {1}"}, {en: "first-token P90 %n is over %n", zh: "首字 P90 {1} 超过 {2}"},
	{en: "its rate may rise slowly only; %s", zh: "速率只能缓慢上升；{1}"}, {en: "over its rate limit", zh: "超过速率限制"}, {en: "drained by %s", zh: "由 {1} 排空"},
	{en: "it", zh: "它"}, {en: "%s is healthy", zh: "{1}：正常"}, {en: "%s became healthy", zh: "{1} 变为正常"}, {en: "%s is degraded", zh: "{1}：降级"}, {en: "%s became degraded", zh: "{1} 变为降级"}, {en: "%s is ejected", zh: "{1}：已摘除"}, {en: "%s became ejected", zh: "{1} 变为已摘除"}, {en: "%s is recovering", zh: "{1}：恢复中"}, {en: "%s became recovering", zh: "{1} 变为恢复中"}, {en: "%s is drained", zh: "{1}：已排空"}, {en: "%s became drained", zh: "{1} 变为已排空"}, {en: "%s is disabled", zh: "{1}：已停用"}, {en: "%s became disabled", zh: "{1} 变为已停用"},
	{en: "every vendor is down: all take traffic at their configured weights until one is well", zh: "所有供应商都不可用：按配置的权重全部接流量，直到有一家恢复"},
	{en: "no vendor may take traffic: every request is answered 503", zh: "没有供应商可以接流量：所有请求都得到 503"},

	// accounts and keys
	{en: "%s refuses the account (%s: %s) and is the last vendor: it is kept", zh: "{1} 拒绝本账户（{2}：{3}），但它是最后一家供应商：保留"},
	{en: "%s disabled, %s: %s. It is probed every minute; `baton enable %s` once it is mended", zh: "{1} 已停用，{2}：{3}。每分钟探测一次；修好后 `baton enable {4}`"},
	{en: "%s disabled: %s", zh: "{1} 已停用：{2}"}, {en: "%s enabled: %s", zh: "{1} 已启用：{2}"}, {en: "%s enabled", zh: "{1} 已启用"}, {en: "account", zh: "账户"}, {en: "key", zh: "密钥"},
	{en: "%s refuses key %s (%s): it leaves the rotation, and %n of %n are left", zh: "{1} 拒绝密钥 {2}（{3}）：不再轮换，剩 {4}/{5} 个"},
	{en: "%s answers %n to %s and names nothing that is missing: is its base_url %s right, and does it offer that endpoint?", zh: "{1} 对 {3} 回答 {2}，也没说缺什么：base_url {4} 对吗？它提供该接口吗？"},

	// weights
	{en: "weights %s→%s: %s", zh: "权重 {1}→{2}：{3}"}, {en: "weights %s→%s", zh: "权重 {1}→{2}"}, {en: "weights pinned to %s for %n", zh: "权重手动设为 {1}，{2}"}, {en: "weights pinned to %s for %n: %s", zh: "权重手动设为 {1}，{2}：{3}"},
	{en: "weights are the controller's again (baton weights auto)", zh: "权重交还控制器（baton weights auto）"},
	{en: "toward its configured %n", zh: "回到配置的 {1}"}, {en: "%s: toward its configured %n", zh: "{1}：回到配置的 {2}"}, {en: "recovering, %n of %n", zh: "恢复中，{1}/{2}"},
	{en: "first token P90 %n, was beyond %n for %n", zh: "首字 P90 {1}，超过 {2} 已 {3}"}, {en: "errors at least %n against %n; %n window, n=%n", zh: "错误率至少 {1}，对比 {2}；{3} 窗口，n={4}"},
	{en: "P90 %n against %n; %n window, n=%n", zh: "P90 {1} 对比 {2}；{3} 窗口，n={4}"}, {en: "P90 %n against its own %n; %n window, n=%n", zh: "P90 {1} 对比自身的 {2}；{3} 窗口，n={4}"},
	{en: "overloaded at %n requests/s: at most %n of all traffic, %s", zh: "{1} 请求/秒时过载：最多占全部流量的 {2}，{3}"}, {en: "being tested again", zh: "正在重新试探"}, {en: "tested again in %n", zh: "{1} 后重新试探"},
	{en: "limited: can take %n of all traffic", zh: "受限：最多接全部流量的 {1}"}, {en: "held: moved up %n ago, may turn in %n", zh: "保持：{1} 前上调，{2} 后才可反向"}, {en: "held: moved down %n ago, may turn in %n", zh: "保持：{1} 前下调，{2} 后才可反向"},
	{en: "recovering: ramps to its pinned weight", zh: "恢复中：逐步回到手动权重"}, {en: "pinned", zh: "手动"}, {en: "ejected: its pinned weight is with the others", zh: "已摘除：手动权重由其他供应商承担"},
	{en: "out of service: its pinned weight is with the others", zh: "不在服务中：手动权重由其他供应商承担"}, {en: "panic: every vendor is down, all at their configured weights", zh: "恐慌模式：所有供应商都不可用，一律按配置的权重"},
	{en: "observe: the law would move %s: %s", zh: "观察：控制律会移动 {1}：{2}"}, {en: "observe: the law would move %s", zh: "观察：控制律会移动 {1}"}, {en: "observe: %s", zh: "观察：{1}"},

	// what people do
	{en: "%s drained; %n attempts under way end as they would", zh: "{1} 已排空；进行中的 {2} 次尝试照常结束"}, {en: "%s drained at once; %n attempts cut", zh: "{1} 立即排空；切断 {2} 次尝试"},
	{en: "No vendor may take traffic now", zh: "现在没有供应商可以接流量"}, {en: "%s undrained", zh: "{1} 取消排空"}, {en: "%s drained", zh: "{1} 已排空"},
	{en: "limit of %s set to %n requests/s", zh: "{1} 的限速设为 {2} 请求/秒"}, {en: "limit of %s set to %n requests/s and key", zh: "{1} 的限速设为每密钥 {2} 请求/秒"}, {en: "limit set to %n requests/s", zh: "限速设为 {1} 请求/秒"}, {en: "limit of %s forgotten", zh: "{1} 的限速已遗忘"},
	{en: "failover is manual for %n: breakers alarm, people move the weights", zh: "手动切换 {1}：熔断只报警，由人移动权重"}, {en: "failover is manual: breakers alarm, people move the weights", zh: "手动切换：熔断只报警，由人移动权重"},
	{en: "failover is manual until %n UTC: breakers alarm, people move the weights", zh: "手动切换到 {1} UTC：熔断只报警，由人移动权重"}, {en: "failover is automatic again", zh: "恢复自动切换"},
	{en: "the lease of manual failover is over, but the file says manual: people still move the weights", zh: "手动切换的期限已过，但配置为手动：仍由人移动权重"},
	{en: "failover is automatic again: its time as manual has run out", zh: "恢复自动切换：手动的时间已到"}, {en: "the lease of manual failover has run out, but the file says manual: people still move the weights", zh: "手动切换的期限已过，但配置为手动：仍由人移动权重"},
	{en: "manual failover ends in %n; `%s` extends it", zh: "手动切换将在 {1} 后结束；`{2}` 延长"}, {en: "the pin has run out: weights are the controller's again", zh: "手动权重到期：权重交还控制器"},
	{en: "the pin has run out: failover is manual, and the weights stay", zh: "手动权重到期：手动切换中，权重不动"}, {en: "the pin %s ends in %n; `%s` extends it", zh: "手动权重 {1} 将在 {2} 后到期；`{3}` 延长"},
	{en: "weights stay as configured; the journal says what the law would do", zh: "权重保持配置值；事件里写明控制律会怎么做"}, {en: "%s in the file, and reload", zh: "在配置文件中设 {1} 并重新加载"},
	{en: "pinned to %s", zh: "手动设为 {1}"}, {en: "pinned to %s: %s", zh: "手动设为 {1}：{2}"}, {en: "pinned to %s, also against health", zh: "手动设为 {1}，无视健康状态"}, {en: "pinned to %s, also against health: %s", zh: "手动设为 {1}，无视健康状态：{2}"}, {en: "pinned to %n until %n UTC", zh: "手动设为 {1}，到 {2} UTC"},
	{en: "simulated vendor changed: %s", zh: "模拟供应商已改变：{1}"},

	{en: "configuration reloaded: nothing changed", zh: "配置已重新加载：没有变化"}, {en: "configuration reloaded: %s", zh: "配置已重新加载：{1}"}, {en: "reload refused, the old configuration stays: %s", zh: "重新加载被拒绝，沿用旧配置：{1}"}, {en: "%s needs a restart: the old address is still served", zh: "{1} 需要重启：旧地址仍在服务"},
	{en: "%n of %n keys of %s refused", zh: "{3} 的 {2} 个密钥中 {1} 个被拒"}, {en: "%s: all %n keys are in the rotation again", zh: "{1}：{2} 个密钥全部恢复轮换"},

	// limits
	{en: "%s takes about %n requests/s: %s", zh: "{1} 大约能接 {2} 请求/秒：{3}"}, {en: "the learned limit of %s is forgotten", zh: "学到的 {1} 限速已遗忘"}, {en: "%s takes what comes: its rate is held no more", zh: "{1} 来多少接多少：不再压住速率"},
	{en: "%s is held at %n requests/s and rises slowly: %s", zh: "{1} 压在 {2} 请求/秒，缓慢上升：{3}"}, {en: "%s takes about %n requests/s, learned %n ago", zh: "{1} 大约能接 {2} 请求/秒，{3} 前学到"},
	{en: "429 on %n of %n in %n s, %n accepted", zh: "{3} 秒内 {2} 次中 {1} 次 429，接受 {4}"}, {en: "429 on %n of %n in %n s, always with %n in flight", zh: "{3} 秒内 {2} 次中 {1} 次 429，总在 {4} 个在途时"},
	{en: "429 for tokens, %n tokens a minute answered in %n s", zh: "因词元得到 429，{2} 秒内每分钟回答 {1} 词元"}, {en: "slope: rose too fast, %n accepted in 10 s", zh: "斜率：上升太快，10 秒内接受 {1}"},
	{en: "queueing: %n sent, %n done in 5 s, P90 %n against %n", zh: "排队：5 秒内发出 {1}、完成 {2}，P90 {3} 对比 {4}"},
	{en: "queueing: %n of %n first tokens waited for those before them as at %n, %n on average", zh: "排队：{2} 个首字中 {1} 个按 {3} 的速率排队等候，平均 {4}"},

	// what would release it
	{en: "its next request, if it is answered, or `baton enable %s`", zh: "它的下一个请求得到回答，或 `baton enable {1}`"}, {en: "a good probe (one a minute) and then an answered request, or `baton enable %s`", zh: "一次探测正常（每分钟一次）且随后一个请求得到回答，或 `baton enable {1}`"},
	{en: "%n good probes and an answered trial (one every %n), or `baton restore %s`", zh: "{1} 次探测正常且一次试探得到回答（每 {2} 一次），或 `baton restore {3}`"}, {en: "an answered trial (one every %n), or `baton restore %s`", zh: "一次试探得到回答（每 {1} 一次），或 `baton restore {2}`"},
	{en: "the end of its ramp in %n", zh: "渐进恢复在 {1} 后结束"}, {en: "`baton limits forget %s` (its limit is set by hand)", zh: "`baton limits forget {1}`（限速由人设定）"},
	{en: "`baton weights auto`, or the end of the pin at %n UTC", zh: "`baton weights auto`，或手动权重在 {1} UTC 到期"}, {en: "`baton failover auto`, or the end of manual failover at %n UTC", zh: "`baton failover auto`，或手动切换在 {1} UTC 结束"},
	{en: "a test of its overload at %n requests/s in %n", zh: "{2} 后在 {1} 请求/秒处重新试探过载"}, {en: "more than %n requests/s without being slow, which is tested now", zh: "超过 {1} 请求/秒而不变慢，正在试探"}, {en: "a first-token P90 within %n for %n", zh: "首字 P90 在 {1} 以内持续 {2}"},
	{en: "errors as low as the best's %n (now at least %n)", zh: "错误率降到最好者的 {1}（现在至少 {2}）"}, {en: "a P90 within %n (%n times the best's; now %n)", zh: "P90 在 {1} 以内（最好者的 {2} 倍；现在 {3}）"}, {en: "the end of its hold in %n", zh: "保持期在 {1} 后结束"},
	{en: "the end of its cooldown in %n", zh: "冷却在 {1} 后结束"}, {en: "%n s without a refusal for its slope (it rises by %n %/s)", zh: "{1} 秒内不因斜率被拒（每秒上升 {2} %）"}, {en: "a test of its learned limit in %n (forgotten at %n UTC)", zh: "{1} 后重新试探学到的限速（{2} UTC 遗忘）"},
	{en: "use of all that its learned limit lets through: tested upward by %n %/s (forgotten at %n UTC)", zh: "用满学到的限速：每秒向上试探 {1} %（{2} UTC 遗忘）"},

	// the store
	{en: "resumed: %l", zh: "已续上：{1}"}, {en: "not resumed: %l", zh: "未续上：{1}"}, {en: "%s drained by %s", zh: "{1} 由 {2} 排空"}, {en: "the pin %s of %s until %n UTC", zh: "{2} 的手动权重 {1}，到 {3} UTC"}, {en: "the pin %s of %s ended while baton did not run", zh: "{2} 的手动权重 {1} 在 baton 未运行时到期"},
	{en: "the pin %s of %s: there is no vendor %s any more", zh: "{2} 的手动权重 {1}：供应商 {3} 已不存在"}, {en: "the pin %s of %s: it sums to %n, not to 100", zh: "{2} 的手动权重 {1}：合计 {3}，不是 100"},
	{en: "failover is manual until %n UTC", zh: "手动切换到 {1} UTC"}, {en: "weights %s", zh: "权重 {1}"}, {en: "%s was disabled (%s) and is the last vendor: it is tried", zh: "{1} 曾被停用（{2}），但它是最后一家供应商：试用"},
	{en: "the state is written again: %s", zh: "状态重新可写：{1}"}, {en: "%s cannot be written (%s): traffic goes on, what changes is kept in memory only; tried again every %n", zh: "{1} 无法写入（{2}）：流量照常，变更只在内存中；每 {3} 重试"},
	{en: "%s: not all that was saved could be read: %s", zh: "{1}：保存的内容未能全部读出：{2}"}, {en: "%n events are missing from the journal: they were too many to keep in memory", zh: "事件记录缺 {1} 条：太多，内存放不下"},
	{en: "state directory %s cannot be written (%s): what would be kept there is lost with this process", zh: "状态目录 {1} 无法写入（{2}）：本进程结束后不保留"},
	{en: "%n single attempts are missing from the ledger (there was no room to keep them in memory); the sums have them", zh: "账本缺 {1} 条单次记录（内存放不下）；合计中有"},

	// the configuration
	{en: "vendor %s: a key stands in the file itself; env:NAME or file:PATH keep it out", zh: "供应商 {1}：密钥直接写在文件里；用 env:NAME 或 file:PATH 放到外面"}, {en: "vendor %s: http:// sends the key in the clear", zh: "供应商 {1}：http:// 会明文发送密钥"},
	{en: "vendor %s: base_url carries what looks like a secret in its query", zh: "供应商 {1}：base_url 的查询参数里像有密钥"}, {en: "there is one vendor: nobody is left when it fails", zh: "只有一家供应商：它失败时无人接替"}, {en: "model %s has one home, %s: it is lost with it", zh: "模型 {1} 只有 {2} 提供：与它一起失去"},
	{en: "a scenario cannot be used: %s", zh: "一个场景不可用：{1}"},
}
