package retrygrpc

import (
	"context"
	"log/slog"
	"sync/atomic"

	"google.golang.org/grpc"
)

// warnIfDoubled writes one line for each target where gRPC retries a method too: its attempts and ours multiply. It is asked at
// failures only, so that calls which succeed pay nothing for it. That gRPC's retries were switched off without DialOptions cannot be
// seen.
func (i *Interceptor) warnIfDoubled(ctx context.Context, cc *grpc.ClientConn, name string, o *callOptions) {
	if cc == nil || o.dialled || cc.GetMethodConfig(name).RetryPolicy == nil {
		return
	}
	target := cc.Target()
	if i.warned.get(target, func(string) *atomic.Bool { return new(atomic.Bool) }).Swap(true) {
		return
	}
	log := i.Logger
	if log == nil {
		log = slog.Default()
	}
	log.WarnContext(ctx, "gRPC retries this method too, and the attempts multiply: give grpc.NewClient the DialOptions of the Interceptor, or grpc.WithDisableRetry",
		"target", target, "method", name)
}
