package retrygrpc

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/seed-89b3229b/retry/throttle"
)

// isIdempotent reports whether a request that the server may have seen can be sent again: as the call says, else the
// method's entry, else its descriptor.
func isIdempotent(key methodKey, special Method) bool {
	switch firstSet(key.idempotent, special.Idempotent) {
	case throttle.Yes:
		return true
	case throttle.No:
		return false
	}
	return declared(key.name)
}

// declared reports whether the method "/pkg.Service/Method" has an idempotency_level in its .proto file that allows
// repeats. A method that is not registered, or no name at all, has none.
func declared(name string) bool {
	service, method, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	if !ok {
		return false
	}
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		return false
	}
	m, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return false
	}
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	switch options.GetIdempotencyLevel() {
	case descriptorpb.MethodOptions_NO_SIDE_EFFECTS, descriptorpb.MethodOptions_IDEMPOTENT:
		return true
	}
	return false
}
