package hint

// Standard returns the Parser for servers of every kind. It reads all that the others read, in this order, and the first
// wait that it finds is the Signal's:
//
//	grpc-retry-pushback-ms                           as GRPC; nothing else counts beside it
//	Retry-After-Ms, X-Ms-Retry-After-Ms              milliseconds
//	X-Amz-Retry-After                                as AWS
//	Retry-After                                      seconds or a date, as ParseRetryAfter
//	X-Retry-After                                    Auto
//	RateLimit                                        as IETF
//	X-RateLimit-User, X-RateLimit-User-API           as Alibaba
//	X-RateLimit-Reset-…, Anthropic-RateLimit-…-Reset Auto, of the dimensions whose own Remaining is 0: the longest
//	X-RateLimit-Reset-After                          seconds   } if Remaining of the same kind is 0, or is not sent
//	X-RateLimit-, X-Rate-Limit-, RateLimit-Reset     Auto      } and the status is 429 or 503: the longest
//
// What is invalid is passed over. Apart from waits it reads X-Should-Retry and Stripe-Should-Retry into Retry ("false"
// wins), and all that is said of limits into Quotas, with X-Shopify-Shop-Api-Call-Limit besides. A Quota is named as the
// server names it: by its item, dimension, X-RateLimit-Resource, X-RateLimit-Bucket or RateLimit-Name, else by the field
// without "-reset". Waits are rounded up to whole milliseconds. Bodies are read by RetryInfo.
//
// A response without any of these fields costs no allocation. A vendor's own Parser reads less and takes each value for
// what that vendor says it is: better where the server is known, since a number may be seconds or milliseconds, from now
// or since 1970.
func Standard() Parser { return &standard }

var standard = wireParser{reads: 1<<fieldCount - 1}

// IETF returns the Parser of RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers; Cloudflare) in all the
// forms that they had, and of Retry-After, which wins:
//
//	RateLimit: "burst";r=0;t=3, "daily";r=900;t=40000   from draft 08 on
//	RateLimit: limit=100, remaining=0, reset=17         draft 07
//	RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset   up to draft 06
//
// Times are seconds from now. Of the limits with nothing left, the longest wait counts. A list that is not valid as a
// whole says nothing, nor does an item without r.
func IETF() Parser { return &ietfParser }

var ietfParser = wireParser{
	reads: setOf(retryAfter, rateLimit, rateLimitPolicy, plainReset, plainRemaining, plainLimit, plainName),
	reset: DeltaSeconds,
}

// GitHub returns the Parser of GitHub's API: Retry-After in seconds, else X-RateLimit-Reset, in seconds since 1970, if
// X-RateLimit-Remaining is 0. The Quota is named by X-RateLimit-Resource, such as "core".
//
// A secondary limit may come with neither: X-RateLimit-Remaining is then above 0, and its reset, up to an hour away, is
// not the answer. GitHub asks to wait a minute at least.
func GitHub() Parser { return &gitHubParser }

var gitHubParser = wireParser{reads: setOf(retryAfter, xReset, xRemaining, xLimit, xResource), reset: EpochSeconds}

// GitLab returns the Parser of GitLab's API: Retry-After in seconds, else RateLimit-Reset, in seconds since 1970, if
// RateLimit-Remaining is 0. The Quota is named by RateLimit-Name.
func GitLab() Parser { return &gitLabParser }

var gitLabParser = wireParser{reads: setOf(retryAfter, plainReset, plainRemaining, plainLimit, plainName), reset: EpochSeconds}

// OpenAI returns the Parser of OpenAI's API and those made like it, such as Groq's: X-Should-Retry; Retry-After-Ms in
// milliseconds, else Retry-After, else the resets of the dimensions in X-RateLimit-{Limit,Remaining,Reset}-{Requests,
// Tokens,…} that have nothing left, written as Go durations (6m0s). The longest counts.
func OpenAI() Parser { return &openAIParser }

var openAIParser = wireParser{reads: setOf(shouldRetry, retryAfterMS, retryAfter, xDimension), reset: GoDuration}

// Anthropic returns the Parser of Anthropic's API: X-Should-Retry; Retry-After-Ms in milliseconds, else Retry-After, else
// the resets of the dimensions in Anthropic-RateLimit-{Requests,Tokens,…}-{Limit,Remaining,Reset} that have nothing left,
// written as in RFC 3339. The longest counts.
func Anthropic() Parser { return &anthropicParser }

var anthropicParser = wireParser{reads: setOf(shouldRetry, retryAfterMS, retryAfter, anthropicDimension), reset: RFC3339}

// Azure returns the Parser of Azure's services: Retry-After-Ms and X-Ms-Retry-After-Ms in milliseconds, else Retry-After,
// else the dimensions of OpenAI, whose resets are seconds or Go durations here.
func Azure() Parser { return &azureParser }

var azureParser = wireParser{reads: setOf(retryAfterMS, azureRetryAfterMS, retryAfter, xDimension)}

// AWS returns the Parser of Amazon's services: X-Amz-Retry-After in whole milliseconds, whose Rule is Clamp(5s) as in the
// AWS SDKs, else Retry-After.
func AWS() Parser { return &awsParser }

var awsParser = wireParser{reads: setOf(awsRetryAfter, retryAfter)}

// Discord returns the Parser of Discord's API: Retry-After in seconds, else, of a bucket with nothing left,
// X-RateLimit-Reset-After in seconds or X-RateLimit-Reset in seconds since 1970, all of them perhaps with a fraction. The
// Quota is named by X-RateLimit-Bucket.
func Discord() Parser { return &discordParser }

var discordParser = wireParser{reads: setOf(retryAfter, xResetAfter, xReset, xRemaining, xLimit, xBucket), reset: EpochSeconds}

// Stripe returns the Parser of Stripe's API: Stripe-Should-Retry, and Retry-After.
func Stripe() Parser { return &stripeParser }

var stripeParser = wireParser{reads: setOf(stripeShouldRetry, retryAfter)}

// Shopify returns the Parser of Shopify's API: Retry-After in seconds, perhaps with a fraction, and the calls used and
// allowed in X-Shopify-Shop-Api-Call-Limit ("39/40") as a Quota.
func Shopify() Parser { return &shopifyParser }

var shopifyParser = wireParser{reads: setOf(retryAfter, shopifyCalls)}

// GRPC returns the Parser of gRPC's trailers (proposal A6): grpc-retry-pushback-ms, an integer of 32 bits in
// milliseconds. The wait is Exact, and starts the curve of waits anew. A negative value, one that is no such number, or
// more than one forbids the retry.
func GRPC() Parser { return &grpcParser }

var grpcParser = wireParser{reads: setOf(pushback)}

// Alibaba returns the Parser of Alibaba Cloud's responses: the two limits in X-RateLimit-User (the account's) and
// X-RateLimit-User-API (the account's for the API that was called), whose values are pairs such as
// Limit:100,Remain:0,Time:60000,TimeLeft:2000,Reset:1700000000000, with times in milliseconds.
//
// Of a limit that is used up, the wait is TimeLeft, or without that the time until Reset. It is used up if Remain is 0 or
// less, except for -1, which says that there is no limit. The longer wait of the two counts. Quotas has a Quota for each
// that was sent, with its name in lower case ("x-ratelimit-user", "x-ratelimit-user-api"), its own Delay whether it is
// used up or not, and a Remaining that is 0 if and only if it is used up.
//
// Nothing is added to the waits; the SDK for Java adds 100 ms.
func Alibaba() Parser { return &alibabaParser }

var alibabaParser = wireParser{reads: setOf(alibabaUser, alibabaUserAPI)}
