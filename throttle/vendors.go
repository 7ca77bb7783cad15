package throttle

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
