package draw

// chineseDrills are the forms of what drills say: claims, plans, preflights,
// checklists, the journal, verdicts.
var chineseDrills = []form{
	// claims
	{en: "a primary that swallows every request costs no client an answer, and the cutover takes under two minutes", zh: "主供应商吞掉所有请求时，没有客户丢失回答，切换不到两分钟"},
	{en: "losing any vendor in any way at any moment costs no client an answer", zh: "任何时刻以任何方式失去任何一家供应商，没有客户丢失回答"},
	{en: "a primary that breaks six streams in a hundred loses share until few answers are lost", zh: "主供应商每百个流断六个时，份额下降，直到很少丢失回答"},
	{en: "losing the primary for real costs no client an answer, and the cutover stays under the target", zh: "真正失去主供应商时，没有客户丢失回答，切换在目标之内"},
	{en: "a primary that comes and goes costs no client an answer, and service is good again at once when it stays", zh: "主供应商时断时续时，没有客户丢失回答；稳定后服务立即恢复良好"},
	{en: "those on call notice that the primary is gone and move its traffic within the target", zh: "值班人员发现主供应商不可用，并在目标时间内移走它的流量"},
	{en: "losing the primary costs no client an answer, and the cutover takes under a minute", zh: "失去主供应商，没有客户丢失回答，切换不到一分钟"}, {en: "losing the secondary costs no client an answer, and the cutover takes under a minute", zh: "失去备供应商，没有客户丢失回答，切换不到一分钟"},
	{en: "losing a vendor costs no client an answer, and the cutover stays under the target", zh: "失去一家供应商，没有客户丢失回答，切换在目标之内"},
	{en: "a primary that refuses half of what it gets for its rate costs no client an answer, and is not ejected", zh: "主供应商因速率拒绝一半请求时，没有客户丢失回答，也不被摘除"}, {en: "a primary whose first tokens come %n s late loses share to the other by itself, and is not ejected", zh: "主供应商首字晚 {1} 秒时，份额自动转给另一家，也不被摘除"},
	{en: "a load spike of %n times is admitted as far as there is room, refused at once beyond that, and over when it is over", zh: "{1} 倍的流量尖峰：有余量就放行，超出立即拒绝，尖峰过去即恢复"},
	{en: "two vendors behind baton cut the first-token P99 of one behind a silent limit by %n %, and losing the primary costs no client an answer", zh: "与一家隐性限速的供应商相比，baton 后面的两家把首字 P99 降低 {1} %；失去主供应商也没有客户丢失回答"},

	// faults and what hits whom
	{en: "%s of %n % of attempts, for at most %n", zh: "{1}，{2} % 的尝试，最多 {3}"}, {en: "%s of %n % of attempts, for at most %n, at %s", zh: "对 {4} 注入 {1}，{2} % 的尝试，最多 {3}"}, {en: "%s of %n % of attempts in the lane %s, for at most %n, at %s", zh: "对 {5} 注入 {1}，{3} 通道 {2} % 的尝试，最多 {4}"},
	{en: "%s, for at most %n", zh: "{1}，最多 {2}"}, {en: "%s, for at most %n, at %s", zh: "对 {3} 注入 {1}，最多 {2}"}, {en: "a vendor drawn by lot", zh: "随机抽取的供应商"}, {en: "a fault drawn by lot", zh: "随机抽取的故障"}, {en: "a fault drawn by lot, at %s", zh: "对 {1} 注入随机抽取的故障"},
	{en: "the vendor that is given", zh: "所选的供应商"}, {en: "the primary", zh: "主供应商"}, {en: "the secondary", zh: "备供应商"}, {en: "the fault ends", zh: "故障结束"}, {en: "restore", zh: "恢复"},

	// what happens
	{en: "It first holds a baseline, and does not run where the others are not well, lack room, or the service is not good anyhow", zh: "先记录基线；其他供应商不正常、没有余量或服务本就不好时不运行"},
	{en: "It begins at once, and does not run only where nobody else may take traffic", zh: "立即开始；只有无人可以接流量时才不运行"},
	{en: "People cut %s themselves, at its endpoint, in a firewall or by its key, and say so with `baton drill mark`; the clock runs from that or from the first bad attempt, whichever comes first", zh: "由人亲自切断{1}（端点、防火墙或密钥），并用 `baton drill mark` 说明；计时从那时或第一次失败的尝试开始，以先到者为准"},
	{en: "Within %n something (%s) happens to %s. Which fault, to whom and when stays sealed until it has ended", zh: "{1} 之内，{3}会出事（{2}）。什么故障、哪一家、何时，结束后才公布"}, {en: "Then %s meets %s", zh: "随后{1}遇到 {2}"},
	{en: "%n after the fault: %s", zh: "故障后 {1}：{2}"}, {en: "It sends %n requests/s of its own", zh: "自带 {1} 请求/秒"},
	{en: "Failover is manual meanwhile: the breakers alarm, single requests are still rescued, and people have to move the weights. Their first act counts as detected", zh: "期间为手动切换：熔断只报警，单个请求仍会转移，权重必须由人移动。人的第一个动作算作发现"},
	{en: "It passes if %s", zh: "通过条件：{1}"}, {en: "clients are unhurt, and the vendor gets less, in time (%n)", zh: "客户不受影响，该供应商的流量及时下降（{1}）"}, {en: "clients are served well again after the last restore, in time (%n)", zh: "最后一次恢复后，客户及时重新得到良好服务（{1}）"},
	{en: "clients are served well without the vendor, in time (%n)", zh: "没有该供应商，客户也及时得到良好服务（{1}）"}, {en: "clients are unhurt, and the vendor gets less, in time (drill.target)", zh: "客户不受影响，该供应商的流量及时下降（drill.target）"},
	{en: "clients are served well again after the last restore, in time (drill.target)", zh: "最后一次恢复后，客户及时重新得到良好服务（drill.target）"}, {en: "clients are served well without the vendor, in time (drill.target)", zh: "没有该供应商，客户也及时得到良好服务（drill.target）"},
	{en: "with a success of %n or more", zh: "成功率不低于 {1}"}, {en: "a first-token P99 of %n or less", zh: "首字 P99 不超过 {1}"}, {en: "and clients hurt for no more than %n", zh: "客户受影响不超过 {1}"}, {en: "and no more than %n ejections", zh: "摘除不超过 {1} 次"},
	{en: "People put it back and say so; it is given up after %n", zh: "由人恢复并说明；{1} 后放弃"}, {en: "It ends when somebody restores the vendor, or after %n", zh: "有人恢复供应商时结束，或 {1} 后结束"}, {en: "The way back to the old weights is judged apart", zh: "权重回切另行评判"},
	{en: "Once that is proven the fault ends by itself, at the latest after %n; the way back to the old weights is judged apart", zh: "证明之后故障自动结束，最迟 {1} 后；权重回切另行评判"},
	{en: "failover becomes manual, for as long as the drill runs", zh: "演练期间改为手动切换"}, {en: "the baseline is held for %n", zh: "记录基线 {1}"}, {en: "a random moment within %n is waited for", zh: "等待 {1} 内的一个随机时刻"}, {en: "people cut %s and say so", zh: "由人切断 {1} 并说明"},
	{en: "the engine notices, the weights shift", zh: "引擎发现，权重转移"}, {en: "%n later: %s", zh: "{1} 后：{2}"}, {en: "good service is proven over %n, against a target of %n", zh: "用 {1} 证明服务良好，目标 {2}"}, {en: "people restore it", zh: "由人恢复"},
	{en: "the vendor is back in its band, within %n", zh: "供应商在 {1} 内回到权重区间"},

	// the preflight
	{en: "somebody else", zh: "其他供应商"}, {en: "another vendor that may take traffic", zh: "另一家可以接流量"}, {en: "no other vendor may take traffic", zh: "没有其他供应商可以接流量"}, {en: "the vendor itself", zh: "供应商本身"}, {en: "%s, weight %n", zh: "{1}，权重 {2}"}, {en: "takes traffic", zh: "接流量"},
	{en: "the other vendors", zh: "其他供应商的状态"}, {en: "all healthy for %n", zh: "全部正常 {1}"}, {en: "%s for %n", zh: "{1} 已 {2}"}, {en: "they are", zh: "是"}, {en: "incidents", zh: "事故"}, {en: "none is open", zh: "没有未结束的"}, {en: "not over yet at %s", zh: "尚未结束：{1}"},
	{en: "their room", zh: "其余量"}, {en: "%n requests/s, %n times what comes now", zh: "{1} 请求/秒，现在的 {2} 倍"}, {en: "%n requests/s", zh: "{1} 请求/秒"}, {en: "not known of %s", zh: "{1} 的未知"}, {en: "requests", zh: "请求"}, {en: "%n requests in %n, for a proof", zh: "{2} 内 {1} 个请求，才能证明"},
	{en: "load", zh: "负载"}, {en: "costs nothing", zh: "不花钱"}, {en: "%n requests/s of its own", zh: "自带 {1} 请求/秒"}, {en: "%n requests/s of its own, at vendors that are paid", zh: "自带 {1} 请求/秒，打到收费的供应商"}, {en: "weights", zh: "权重"}, {en: "the controller's", zh: "由控制器管理"}, {en: "pinned by %s", zh: "由 {1} 手动设定"},
	{en: "mode", zh: "模式"}, {en: "observe: nothing moves by itself", zh: "观察：不会自己移动"}, {en: "failover", zh: "切换"}, {en: "manual: people have to move the weights", zh: "手动：必须由人移动权重"}, {en: "models", zh: "模型"}, {en: "each has a second home", zh: "都有第二家提供"}, {en: "they have", zh: "都有"}, {en: "only here: %s", zh: "只有这里：{1}"},
	{en: "its share of the traffic is not known", zh: "流量占比未知"}, {en: "%n % of the requests of the last day", zh: "最近一天请求的 {1} %"}, {en: "no request in the last day", zh: "最近一天没有请求"}, {en: "blackout dates", zh: "禁演日期"}, {en: "not in a blackout", zh: "不在禁演期"}, {en: "none of it", zh: "不在"}, {en: "today is in %s", zh: "今天在 {1} 内"},
	{en: "error budget", zh: "错误预算"}, {en: "at most %n failed requests (half of what success %n allows today, never under %n)", zh: "最多 {1} 个失败请求（成功率 {2} 今天允许的一半，不低于 {3}）"}, {en: "%n of %n outside drills since %s", zh: "自 {3} 起演练之外 {1}/{2}"}, {en: "drills of it today", zh: "今天的演练"},
	{en: "no other drill", zh: "没有别的演练"}, {en: "none runs", zh: "没有进行中的"}, {en: "%s: wanted %s, got %s", zh: "{1}：要求{2}，实际{3}"}, {en: "`baton drill run --force` overrides it", zh: "`baton drill run --force` 可强制运行"}, {en: "drill %s still runs: restore or abort it first", zh: "演练 {1} 还在进行：先恢复或中止"},
	{en: "every one simulated: the load would be paid for", zh: "全部是模拟的：否则负载要付费"}, {en: "their processor", zh: "处理器"}, {en: "vendors", zh: "供应商"}, {en: "simulated: it takes processor time from those who serve", zh: "模拟的：它占用服务者的处理器时间"},

	// checklists and what people are asked
	{en: "agreed: who cuts %s, where, and how it is put back", zh: "已约定：谁切断 {1}、在哪里、如何恢复"}, {en: "all who have to know do, and whom to call to end it", zh: "该知道的人都知道，也知道叫谁来结束"}, {en: "%s is cut: x, or `baton drill mark`", zh: "{1} 已切断：x 或 `baton drill mark`"}, {en: "the engine has noticed", zh: "引擎已发现"},
	{en: "good service without it is proven", zh: "已证明没有它服务也良好"}, {en: "%s is put back: x, or `baton drill mark`", zh: "{1} 已恢复：x 或 `baton drill mark`"}, {en: "%s carries its weight again", zh: "{1} 重新承担其权重"}, {en: "somebody can end it at any moment: A, or `baton drill abort`", zh: "有人能随时结束：A 或 `baton drill abort`"},
	{en: "the alarm has reached whoever is on call", zh: "警报已到达值班人员"}, {en: "somebody has said what is wrong, and with which vendor", zh: "有人说出了哪里、哪一家出了问题"}, {en: "somebody has acted on the weights", zh: "有人动了权重"}, {en: "no traffic goes to the vendor any more", zh: "不再有流量去该供应商"},
	{en: "those on call know that it was a drill and is over", zh: "值班人员知道这是演练且已结束"}, {en: "the weights are where they belong", zh: "权重已归位"}, {en: "cut %s now, then x or `baton drill mark`", zh: "现在切断 {1}，然后按 x 或 `baton drill mark`"}, {en: "put %s back once proven, then x or `baton drill mark`", zh: "证明之后恢复 {1}，然后按 x 或 `baton drill mark`"},

	// the journal
	{en: "drill %s: the baseline is held for %n, then %s at %s. A aborts", zh: "演练 {1}：记录基线 {2}，然后对 {4} 注入 {3}。A 中止"}, {en: "drill %s: something happens to somebody within %n. A aborts", zh: "演练 {1}：{2} 内某家会出事。A 中止"}, {en: "drill %s: the baseline is held for %n, then people cut %s. A aborts", zh: "演练 {1}：记录基线 {2}，然后由人切断 {3}。A 中止"},
	{en: "drill %s: %s killed (%s); the engine has to notice. %s", zh: "演练 {1}：{2} 被断开（{3}）；引擎必须自己发现。{4}"}, {en: "drill %s: %s at %s; the engine has to notice. %s", zh: "演练 {1}：对 {3} 注入 {2}；引擎必须自己发现。{4}"}, {en: "drill %s: %s was cut; the engine has to notice", zh: "演练 {1}：{2} 已被切断；引擎必须自己发现"},
	{en: "It ends once its verdict is given, with A, or in %n", zh: "判定后结束，或按 A，或 {1} 后"}, {en: "It ends with R, or in %n", zh: "按 R 结束，或 {1} 后"}, {en: "%s was %s already: it took no traffic whose loss could be noticed", zh: "{1} 本来就{2}：没有流量可失去"},
	{en: "drill %s: %s, and %s. %s", zh: "演练 {1}：{2}，而 {3}。{4}"}, {en: "drill %s waits for people to cut %s, for at most %n", zh: "演练 {1} 等待人切断 {2}，最多 {3}"},
	{en: "cutover %n (asked %s), %s; clients failed: %n of %n", zh: "切换 {1}（要求{2}），{3}；失败客户 {4}/{5}"},
	{en: "contained after %n (asked %s), %s; clients failed: %n of %n", zh: "{1} 后遏制（要求{2}），{3}；失败客户 {4}/{5}"},
	{en: "served well again after the last restore %n (asked %s), %s; clients failed: %n of %n", zh: "最后一次恢复后 {1} 服务良好（要求{2}），{3}；失败客户 {4}/{5}"},
	{en: "R restores %s", zh: "R 恢复 {1}"}, {en: "Put %s back now", zh: "现在恢复 {1}"}, {en: "within %n; target %n", zh: "{1} 内；目标 {2}"}, {en: "within %n", zh: "{1} 内"},
	{en: "drill %s: %s restored; it is tried at once and comes back over a ramp", zh: "演练 {1}：{2} 已恢复；立即试用，逐步回来"}, {en: "drill %s is unsealed: it was %s at %s, from %n on. It comes back over a ramp", zh: "演练 {1} 揭晓：{4} 起对 {3} 注入 {2}。它逐步回来"},
	{en: "drill %s of %s ended: %s", zh: "演练 {1}（{2}）结束：{3}"}, {en: "the outage of %s is over: %s", zh: "{1} 的故障已结束：{2}"}, {en: "drill %s of %s: %s. The clock runs on", zh: "演练 {1}（{2}）：{3}。计时继续"}, {en: "the target of %n has passed: %s", zh: "已超过目标 {1}：{2}"}, {en: "the target of %n has passed", zh: "已超过目标 {1}"},
	{en: "drill %s, %n after the fault: %s", zh: "演练 {1}，故障后 {2}：{3}"}, {en: "the step at %n (%s) failed: %s", zh: "{1} 处的步骤（{2}）失败：{3}"}, {en: "nobody ordered this: %s is out (%s). An incident is open, the clock runs from its first bad attempt", zh: "无人下令：{1} 不可用（{2}）。已立事故，计时从第一次失败的尝试开始"},
	{en: "the drill %s begins at %s. `baton drill cancel %s` cancels it", zh: "演练 {1} 将在 {2} 开始。`baton drill cancel {3}` 取消"}, {en: "the drill %s of %s will not run: %s", zh: "演练 {1}（{2}）不会运行：{3}"}, {en: "the scheduled drill %s did not run: %s", zh: "日程中的演练 {1} 没有运行：{2}"}, {en: "the drill %s of %s is cancelled", zh: "演练 {1}（{2}）已取消"}, {en: "cancelled by %s", zh: "由 {1} 取消"},
	{en: "drill %s was cut short, recorded as %s", zh: "演练 {1} 被打断，记录为{2}"}, {en: "aborted by %s", zh: "由 {1} 中止"}, {en: "baton stopped", zh: "baton 已停止"}, {en: "the drill goes on, but its record is only in memory: %s", zh: "演练继续，但记录只在内存：{1}"},

	{en: "fault %s at %s for %n", zh: "{2} 的故障 {1}，{3}"}, {en: "fault %s at %s", zh: "{2} 的故障 {1}"}, {en: "fault %s at %s, %n of attempts", zh: "{2} 的故障 {1}，{3} 的尝试"},
	{en: "%s restored (%s)", zh: "{1} 已恢复（{2}）"}, {en: "`%s`, or the end of the fault at %n UTC", zh: "`{1}`，或故障在 {2} UTC 结束"},

	// verdicts
	{en: "not detected", zh: "未被发现"}, {en: "it took no traffic before", zh: "此前没有流量"}, {en: "no attempt met the fault", zh: "没有尝试碰到故障"}, {en: "the fault was not over", zh: "故障尚未结束"}, {en: "good service was not held yet", zh: "尚未保持良好服务"}, {en: "not seen", zh: "未见"}, {en: "not seen: %s", zh: "未见：{1}"}, {en: "not within it: %s", zh: "未在时限内：{1}"}, {en: "not proven: %s", zh: "未证明：{1}"},
	{en: "not detected, and %n requests, fewer than %n, prove nothing", zh: "未被发现，{1} 个请求少于 {2}，不能证明"}, {en: "its share of the attempts did not fall to %n %: %n of %n since the fault went to it", zh: "它的份额没有降到 {1} %：故障以来 {3} 次中 {2} 次仍去了它"},
	{en: "noticed, but its share of the attempts did not fall to %n %: %n of %n since the fault went to it", zh: "已发现，但份额没有降到 {1} %：故障以来 {3} 次中 {2} 次仍去了它"}, {en: "detected, and fewer than %n attempts since: not shifted, and nothing proven", zh: "已发现，但此后不足 {1} 次尝试：未转移，不能证明"},
	{en: "detected, but not shifted: %n of %n attempts since the fault went to it", zh: "已发现但未转移：故障以来 {2} 次中 {1} 次仍去了它"}, {en: "%n requests in %n s, fewer than %n, prove nothing", zh: "{2} 秒内 {1} 个请求，少于 {3}，不能证明"}, {en: "clients' success is %n, under %n", zh: "客户成功率 {1}，低于 {2}"},
	{en: "the P99 of first tokens is %n ms, over %n ms", zh: "首字 P99 {1} ms，超过 {2} ms"}, {en: "good service was held for %n of %n s", zh: "良好服务保持了 {1}/{2} 秒"}, {en: "no %s within %n: %s", zh: "{2} 内没有{1}：{3}"}, {en: "restored by %s after %n, before the %s was proven: %s", zh: "{2} 后由 {1} 恢复，{3}尚未证明：{4}"},
	{en: "the fault ended after %n, before the target of %n: %s", zh: "故障 {1} 后结束，早于目标 {2}：{3}"}, {en: "the outage ended after %n, before the target of %n: %s", zh: "故障 {1} 后结束，早于目标 {2}：{3}"}, {en: "%s before it was proven: %s", zh: "{1}，尚未证明：{2}"}, {en: "%n requests failed, more than drill.max_failed %n", zh: "{1} 个请求失败，多于 drill.max_failed {2}"}, {en: "it cost %n extra, more than drill.max_cost %n", zh: "额外花费 {1}，多于 drill.max_cost {2}"},
	{en: "no other vendor may take traffic any more", zh: "不再有其他供应商可以接流量"}, {en: "another vendor, %s, is %s", zh: "另一家供应商 {1} {2}"}, {en: "%n of %n requests failed in 10 s: success was under drill.abort_below %n in each of them", zh: "10 秒内 {2} 个请求失败 {1} 个：每秒成功率都低于 drill.abort_below {3}"},
	{en: "the baseline does not hold: clients' success has to be at least %n, it is %s", zh: "基线不成立：客户成功率须不低于 {1}，实际 {2}"}, {en: "the engine does not answer: %s", zh: "引擎没有回答：{1}"}, {en: "nobody cut %s within %n", zh: "{2} 内没有人切断 {1}"}, {en: "%s injected another fault", zh: "{1} 注入了另一个故障"}, {en: "the cutover %n was proven before that", zh: "此前已证明切换 {1}"},
	{en: "its weight is %n, not in its band of %n to %n", zh: "权重 {1}，不在区间 {2}-{3}"}, {en: "its weight is %n, not the %n that it is pinned to", zh: "权重 {1}，不是手动设定的 {2}"}, {en: "a drill began there", zh: "那里开始了演练"}, {en: "what was cut has to be put back by whoever cut it", zh: "谁切断谁恢复"},
	{en: "it was out again after that, which is another outage", zh: "此后又不可用，算另一次故障"}, {en: "baton ended while the drill ran, and the fault with it", zh: "演练中 baton 结束，故障随之结束"}, {en: "baton ended before the fault", zh: "故障之前 baton 已结束"},

	// what was asked and got
	{en: "at most %s", zh: "最多 {1}"}, {en: "at least %n", zh: "至少 {1}"}, {en: "at most %n, the scenario's own bound", zh: "最多 {1}（场景自定）"}, {en: "clients' success until the proof", zh: "证明之前的客户成功率"}, {en: "seconds in which clients were hurt", zh: "客户受影响的秒数"}, {en: "its share of the attempts", zh: "它的尝试份额"},
	{en: "at most %n %, from %n %", zh: "最多 {1} %，原为 {2} %"}, {en: "its ejections", zh: "摘除次数"}, {en: "good service for %n s, from %n after the fault", zh: "故障后 {2} 起 {1} 秒服务良好"}, {en: "success at least %n, P99 at most %n ms, at least %n requests", zh: "成功率至少 {1}，P99 最多 {2} ms，至少 {3} 个请求"}, {en: "success %s; P99 %s", zh: "成功率 {1}；P99 {2}"},
	{en: "%n: %n of %n failed (95 %: %n to %n)", zh: "{1}：失败 {2}/{3}（95 %：{4} 到 {5}）"}, {en: "%n ms (n=%n, 95 %: %n to %n)", zh: "{1} ms（n={2}，95 %：{3} 到 {4}）"}, {en: "%n ms (n=%n, 95 %: over %n)", zh: "{1} ms（n={2}，95 %：超过 {3}）"}, {en: "%n ms (n=%n, 95 %: not known)", zh: "{1} ms（n={2}，95 %：未知）"}, {en: "no first token", zh: "没有首字"},
	{en: "contained after", zh: "遏制用时"}, {en: "served well again after the last restore", zh: "最后一次恢复后服务良好"}, {en: "failback, judged apart", zh: "回切（另行评判）"}, {en: "back where it belongs within %n", zh: "{1} 内归位"},
	{en: "the median %n of the last %n", zh: "最近 {2} 次的中位数 {1}"}, {en: "against %s", zh: "对比{1}"}, {en: "as %s", zh: "与{1}相当"}, {en: "WORSE: %n % slower than %s", zh: "变差：比{2}慢 {1} %"}, {en: "%n % slower than %s", zh: "比{2}慢 {1} %"}, {en: "%n % faster than %s", zh: "比{2}快 {1} %"},

	// the spike
	{en: "baseline: %n requests/s", zh: "基线：{1} 请求/秒"}, {en: "%n requests/s, from %n", zh: "{1} 请求/秒，原为 {2}"}, {en: "back to %n requests/s", zh: "回到 {1} 请求/秒"}, {en: "what became of it is reckoned up", zh: "统计结果"}, {en: "demo traffic pauses", zh: "演示流量暂停"}, {en: "%n requests/s for %n", zh: "{1} 请求/秒，{2}"},
	{en: "%n requests/s for %n, of which %n with a goodput as before prove the recovery", zh: "{1} 请求/秒，{2}，其中 {3} 有效吞吐如前即证明恢复"}, {en: "drill %s: %n requests/s for %n, then %n for %n. A aborts", zh: "演练 {1}：{2} 请求/秒 {3}，然后 {4} 持续 {5}。A 中止"}, {en: "drill %s: the step up, %n requests/s from now on", zh: "演练 {1}：上升，从现在起 {2} 请求/秒"}, {en: "drill %s: the step back, %n requests/s again", zh: "演练 {1}：下降，回到 {2} 请求/秒"},
	{en: "baseline: %n requests/s, %n admitted, %n limited, %n shed, %n failed, %n not sent", zh: "基线：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}，未发出 {6}"}, {en: "spike: %n requests/s, %n admitted, %n limited, %n shed, %n failed, %n not sent", zh: "尖峰：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}，未发出 {6}"}, {en: "recovery: %n requests/s, %n admitted, %n limited, %n shed, %n failed, %n not sent", zh: "恢复：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}，未发出 {6}"},
	{en: "baseline: %n requests/s, %n admitted, %n limited, %n shed, %n failed", zh: "基线：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}"}, {en: "spike: %n requests/s, %n admitted, %n limited, %n shed, %n failed", zh: "尖峰：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}"}, {en: "recovery: %n requests/s, %n admitted, %n limited, %n shed, %n failed", zh: "恢复：{1} 请求/秒，放行 {2}，限速 {3}，丢弃 {4}，失败 {5}"},
	{en: "first token P50 %n ms, P99 %n ms", zh: "首字 P50 {1} ms，P99 {2} ms"},
	{en: "It passes if goodput is back after the spike within %n, vendors were asked no more than %n times per request, the first-token P99 of what was admitted is %n or less, and nothing fails other than by a refusal that says when to come again", zh: "通过条件：尖峰后 {1} 内有效吞吐恢复，每个请求对供应商的尝试不超过 {2} 次，放行部分的首字 P99 不超过 {3}，且除了写明何时再来的拒绝之外没有失败"},
	{en: "It runs only where every vendor is simulated: the load is real, and would be paid for. Demo traffic pauses meanwhile", zh: "只在所有供应商都是模拟时运行：负载是真实的，否则要付费。期间演示流量暂停"},
	{en: "It sends requests of its own, open loop with independent arrivals: %n for %n, then %n from one arrival to the next for %n, then %n again for %n", zh: "自己发送请求，开环、独立到达：{1} 持续 {2}，然后瞬间升到 {3} 持续 {4}，再回到 {5} 持续 {6}"},
	{en: "Answers are of %n tokens; %n % is batch work, %n % of the rest is streamed. It counts what is admitted, limited (429), shed (503) and fails, and how much processor time generator, gateway and vendors take", zh: "回答为 {1} 词元；{2} % 是批量，其余的 {3} % 为流式。统计放行、限速（429）、丢弃（503）、失败，以及发生器、网关和供应商各占多少处理器时间"},
	{en: "A generator that is late itself proves nothing: the verdict is then inconclusive", zh: "发生器自己迟到则什么也证明不了：判定为无法判定"},
	{en: "the spike was cut short: %s", zh: "尖峰被打断：{1}"}, {en: "within the plan", zh: "在计划内"}, {en: "not within the plan: METASTABLE, the bad state has outlived the load", zh: "不在计划内：METASTABLE，负载过去后坏状态仍在"}, {en: "goodput as before the spike, after the step back", zh: "下降后有效吞吐如尖峰前"}, {en: "attempts at vendors per request", zh: "每个请求对供应商的尝试数"},
	{en: "first-token P99 of what was admitted in the spike", zh: "尖峰中放行部分的首字 P99"}, {en: "at most %n ms", zh: "最多 {1} ms"}, {en: "requests that failed, refusals apart", zh: "失败的请求（拒绝除外）"}, {en: "the generator", zh: "发生器"}, {en: "in time", zh: "准时"}, {en: "late by %n ms (P99), %n not sent", zh: "迟到 {1} ms（P99），未发出 {2}"},
	{en: "CLIENT-LIMITED: the generator was %s, so it measured itself", zh: "CLIENT-LIMITED：发生器{1}，测到的是它自己"},

	// money, stress tests
	{en: "What the vendors cost together against one alone is not known: not all prices are, or nothing is recorded", zh: "几家一起与只用一家相比花多少还不知道：价格不全，或没有记录"},
	{en: "%s together cost %n %s a day at the present %n calls; a single contract with %s would cost %n: together they cost %n (%n %) less%s", zh: "{1} 一起按现在的 {4} 次调用每天花 {2} {3}；只与 {5} 签约要花 {6}：一起少花 {7}（{8} %）{9}"},
	{en: "%s together cost %n %s a day at the present %n calls; a single contract with %s would cost %n: together they cost %n (%n %) more%s", zh: "{1} 一起按现在的 {4} 次调用每天花 {2} {3}；只与 {5} 签约要花 {6}：一起多花 {7}（{8} %）{9}"},
	{en: "%s together cost %n %s a day at the present %n calls; a single contract with %s would cost %n: together they cost %n (%n %) less", zh: "{1} 一起按现在的 {4} 次调用每天花 {2} {3}；只与 {5} 签约要花 {6}：一起少花 {7}（{8} %）"},
	{en: "%s together cost %n %s a day at the present %n calls; a single contract with %s would cost %n: together they cost %n (%n %) more", zh: "{1} 一起按现在的 {4} 次调用每天花 {2} {3}；只与 {5} 签约要花 {6}：一起多花 {7}（{8} %）"},
	{en: ", %n a day of overhead included", zh: "，含每天 {1} 的管理费用"},
	{en: "%s requests at once, %n each · about %n", zh: "并发 {1}，每级 {2} · 约 {3}"}, {en: "%s requests at once, %n each . about %n", zh: "并发 {1}，每级 {2} . 约 {3}"},

	// the story
	{en: "drill %s begins, with vendors of its own; it takes about %n. A aborts", zh: "演练 {1} 开始，使用自己的供应商；大约 {2}。A 中止"},
	{en: "It re-enacts for people who watch why a team put two vendors behind one gateway, in six acts over about five minutes, each measured while it runs", zh: "为观众重演一个团队为何在一个网关后放两家供应商：六幕，约五分钟，每幕边演边测"},
	{en: "One GPU behind a plain server under ten times its traffic; the same, quantized; one pool with a professional inference engine; a vendor behind a silent limit; that vendor and an elastic one under baton; then the primary is killed", zh: "普通服务后的一块 GPU 遇到十倍流量；同一块 GPU，量化后；专业推理引擎的单一资源池；隐性限速的供应商；它与一家弹性供应商由 baton 驱动；然后断开主供应商"},
	{en: "It starts simulated vendors and an engine of its own, measures this machine first, and says so if the machine is too slow. Nothing of the engine that runs is touched; demo traffic pauses meanwhile", zh: "启动自己的模拟供应商和引擎，先测量本机，太慢会说明。不触碰运行中的引擎；期间演示流量暂停"},
	{en: "It passes if every act is as the story says, and no client gets an error when the primary is killed", zh: "每一幕都如故事所说，且断开主供应商时没有客户出错，即通过"},
	{en: "ACT %n of %n: %s", zh: "第 {1} 幕，共 {2} 幕：{3}"}, {en: "%s Load: %s", zh: "{1} 负载：{2}"}, {en: "this machine is measured", zh: "测量本机"}, {en: "Measuring this machine", zh: "测量本机"}, {en: "An unloaded vendor answers; its times are known. What is seen here has to agree with them", zh: "一家空载的供应商回答，其时间已知；这里看到的必须与之一致"},
	{en: "One GPU behind a plain server, at ten times its traffic", zh: "普通服务后的一块 GPU，十倍流量"}, {en: "The same GPU, quantized", zh: "同一块 GPU，量化后"}, {en: "One pool with a professional inference engine", zh: "专业推理引擎的单一资源池"}, {en: "A vendor with spare engines, behind a silent limit", zh: "有余力的供应商，隐性限速"}, {en: "That vendor and an elastic one, driven by baton", zh: "它与一家弹性供应商，由 baton 驱动"}, {en: "The primary is killed", zh: "断开主供应商"},
	{en: "A 7B model on one 24 GB card behind FastAPI, answers of some 38 tokens. It was fine for 50 users. Now there are 500", zh: "FastAPI 后面一块 24 GB 显卡上的 7B 模型，回答约 38 词元。50 个用户时没问题，现在是 500 个"}, {en: "4-bit weights leave room for every request, and so for the whole queue that the failures had hidden", zh: "4 位权重让每个请求都放得下，于是失败曾掩盖的整个队列也放得下"},
	{en: "Continuous batching, paged memory: the crowd is no trouble any more. But it is one pool, and somebody has to run it", zh: "连续批处理、分页显存：人多不再是问题。但只有一个资源池，还得有人运维"}, {en: "No GPU to run any more. But nobody has told us that this account may have 20 requests/s: the rest wait in line, and some are refused", zh: "不用再运维 GPU。但没人告诉过我们这个账户只能 20 请求/秒：其余的排队，有些被拒"},
	{en: "The same vendor is still the primary, and the traffic is the same. baton finds the limit by itself, stays just under it, and sends the rest to the other at once", zh: "还是同一家主供应商，流量也一样。baton 自己找到限速，刚好压在它之下，其余立即发给另一家"}, {en: "Every new connection to the primary is refused from now on. The router is not told: it has to notice", zh: "从现在起，通往主供应商的新连接全部被拒。路由不会被告知：它必须自己发现"},
	{en: "500 users who think for 30 s between two questions (about 16 requests/s)", zh: "500 个用户，两问之间思考 30 秒（约 16 请求/秒）"}, {en: "26 requests/s, independent arrivals (Poisson)", zh: "26 请求/秒，独立到达（泊松）"}, {en: "warming up, nothing counts yet", zh: "预热，尚不计数"},
	{en: "first token P50 %s P90 %s P99 %s, errors %n %, n=%n", zh: "首字 P50 {1} P90 {2} P99 {3}，错误率 {4} %，n={5}"}, {en: "whole answer P50 %s P90 %s P99 %s, errors %n %, n=%n", zh: "完整回答 P50 {1} P90 {2} P99 {3}，错误率 {4} %，n={5}"},
	{en: "%s, T+%n s: cutover %n s, %n requests failed", zh: "{1}，T+{2} 秒：切换 {3} 秒，{4} 个请求失败"}, {en: "%s, T+%n s: %n requests, %n failed, %n rescued", zh: "{1}，T+{2} 秒：{3} 个请求，失败 {4}，转移 {5}"},
	{en: "P99 above 7 s, and memory runs out", zh: "P99 超过 7 秒，显存耗尽"}, {en: "memory holds, and P99 is still above 7 s", zh: "显存够了，P99 仍超过 7 秒"}, {en: "first token P99 under 1 s, nothing fails", zh: "首字 P99 低于 1 秒，没有失败"}, {en: "first token P99 about 4.8 s", zh: "首字 P99 约 4.8 秒"}, {en: "first token P99 under 0.72 s: 85 % less", zh: "首字 P99 低于 0.72 秒：降低 85 %"},
	{en: "it keeps the vendors' own times", zh: "与供应商自身的时间一致"}, {en: "this machine is too slow: %s", zh: "本机太慢：{1}"},
}
