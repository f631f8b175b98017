package sim

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// faultWords is the length of every answer in the profile "faults": w1 w2 ... w60.
const faultWords = 60

// topic is one question of the canned FAQ: words that ask it, and sentences that answer it.
type topic struct {
	asks      []string
	sentences []string
}

// The FAQ of an invented kettle. Chinese and English say the same; the first topic answers what no other one does.
var (
	english = []topic{
		{nil, []string{"This is a simulated answer: no model ran.", "Nothing was sent beyond this machine.", "Ask about delivery, returns, invoices, the warranty or your password.", "A person answers on working days from nine to six."}},
		{[]string{"deliver", "ship", "arrive", "order"}, []string{"Orders placed before four o'clock leave the same day.", "Delivery takes two to three working days.", "You find the tracking number under My Orders.", "Remote areas may take one day longer."}},
		{[]string{"refund", "return", "exchange", "money back"}, []string{"You can return the kettle within thirty days.", "Open My Orders and choose Return.", "The courier collects it at your door free of charge.", "The money is back within five working days."}},
		{[]string{"invoice", "receipt", "tax"}, []string{"An invoice is made when the order is complete.", "Download it under My Orders, Invoices.", "A company name can be added within thirty days.", "Paper invoices are sent on request."}},
		{[]string{"warranty", "broken", "repair", "defect"}, []string{"The kettle has a warranty of two years.", "Please send a photo of the defect.", "We repair or replace it within seven days.", "Wear of the filter is not covered."}},
		{[]string{"password", "account", "login", "log in", "sign in"}, []string{"Choose Forgot Password on the sign-in page.", "A code is sent to your phone and is valid for ten minutes.", "After five wrong tries the account is locked for one hour.", "Your orders and addresses stay as they are."}},
		{[]string{"price", "cost", "discount", "coupon"}, []string{"The price on the product page is the price you pay.", "Coupons are applied at checkout.", "One coupon can be used for each order.", "Price drops within seven days are paid back."}},
		{[]string{"kettle", "water", "temperature", "clean", "use"}, []string{"The kettle keeps water warm at four temperatures.", "Hold the button for two seconds to choose one.", "Clean it once a month with citric acid.", "It switches off by itself when it is empty."}},
	}
	chinese = []topic{
		{nil, []string{"这是模拟的回答，没有运行任何模型。", "数据没有离开这台机器。", "您可以询问配送、退货、发票、保修或密码问题。", "工作日九点到十八点有人工客服。"}},
		{[]string{"配送", "发货", "物流", "快递", "订单", "到货"}, []string{"下午四点前的订单当天发货。", "一般两到三个工作日送达。", "您可以在“我的订单”里查看运单号。", "偏远地区可能晚一天到达。"}},
		{[]string{"退款", "退货", "换货", "退"}, []string{"收货后三十天内可以退货。", "请在“我的订单”里点击退货。", "快递员会免费上门取件。", "退款将在五个工作日内原路退回。"}},
		{[]string{"发票", "税"}, []string{"订单完成后会自动开具发票。", "请在“我的订单”的发票页下载。", "三十天内可以补充公司抬头。", "如需纸质发票请联系客服。"}},
		{[]string{"保修", "坏", "维修", "故障"}, []string{"水壶享有两年保修。", "请先拍一张故障照片发给我们。", "我们会在七天内维修或更换。", "滤网的正常磨损不在保修范围内。"}},
		{[]string{"密码", "账号", "登录", "账户"}, []string{"请在登录页点击“忘记密码”。", "验证码会发到您的手机，十分钟内有效。", "连续输错五次会锁定一小时。", "您的订单和地址不会改变。"}},
		{[]string{"价格", "多少钱", "优惠", "折扣"}, []string{"商品页的价格就是实付价格。", "优惠券在结算时使用。", "每个订单可以使用一张优惠券。", "七天内降价可以退差价。"}},
		{[]string{"水壶", "水温", "温度", "清洗", "使用"}, []string{"水壶有四档保温温度。", "长按按键两秒可以选择温度。", "建议每月用柠檬酸清洗一次。", "没有水时会自动断电。"}},
	}
)

// compose writes an answer to question of about want tokens: whole sentences, the topic's own first.
func compose(rng *rand.Rand, question string, want int) []string {
	topics, join := english, " "
	if strings.ContainsFunc(question, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		topics, join = chinese, ""
	}
	at := topicOf(topics, question)
	sentence := rng.IntN(2)
	var out []string
	for {
		s := topics[at].sentences
		next := split(s[sentence%len(s)])
		// Stop where one sentence more would be further from the wanted length.
		if len(out) > 0 && len(out)+len(next)-want > want-len(out) {
			return out
		}
		for i, piece := range next {
			if i == 0 && len(out) > 0 {
				piece = join + piece
			}
			out = append(out, piece)
		}
		if sentence++; sentence%len(s) == 0 {
			at = (at + 1) % len(topics)
		}
	}
}

func topicOf(topics []topic, question string) int {
	lower := strings.ToLower(question)
	for i, t := range topics {
		for _, ask := range t.asks {
			if strings.Contains(lower, ask) {
				return i
			}
		}
	}
	return 0
}

var splits sync.Map // sentence -> []string

// split cuts a sentence into tokens: words with the space before them, or two Chinese characters, punctuation attached.
func split(s string) []string {
	if known, ok := splits.Load(s); ok {
		return known.([]string)
	}
	var out []string
	start, runes := 0, 0
	for i, r := range s {
		if r == ' ' || runes >= 2 && unicode.Is(unicode.Han, r) {
			out = append(out, s[start:i])
			start, runes = i, 0
		}
		if unicode.Is(unicode.Han, r) {
			runes++
		}
	}
	out = append(out, s[start:])
	splits.Store(s, out)
	return out
}

// countedWords are "w1", " w2", ... " w60".
var countedWords = sync.OnceValue(func() []string {
	words := make([]string, faultWords)
	for i := range words {
		words[i] = " w" + strconv.Itoa(i+1)
	}
	words[0] = words[0][1:]
	return words
})
