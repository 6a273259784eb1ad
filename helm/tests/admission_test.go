package tests

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/discovery"
	dynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// client is a fake client with the schemas that the admission code needs.
type client struct{ *fake.Clientset }

func (c client) Discovery() discovery.DiscoveryInterfaces {
	return described{c.Clientset.Discovery()}
}

type described struct{ discovery.DiscoveryInterfaces }

func (described) OpenAPIV3() openapi.Client { return openapitest.NewEmbeddedFileClient() }

// admitter admits pods by the policies that the chart renders, as a kube-apiserver does.
type admitter struct {
	mutating   admission.MutationInterface
	validating admission.ValidationInterface
}

func newAdmitter(t *testing.T, rendered string) admitter {
	t.Helper()
	var mutation admissionregistration.MutatingAdmissionPolicy
	var mutationBinding admissionregistration.MutatingAdmissionPolicyBinding
	var validation admissionregistration.ValidatingAdmissionPolicy
	var validationBinding admissionregistration.ValidatingAdmissionPolicyBinding
	strictly(t, only(t, rendered, "MutatingAdmissionPolicy"), &mutation)
	strictly(t, only(t, rendered, "MutatingAdmissionPolicyBinding"), &mutationBinding)
	strictly(t, only(t, rendered, "ValidatingAdmissionPolicy"), &validation)
	strictly(t, only(t, rendered, "ValidatingAdmissionPolicyBinding"), &validationBinding)
	// The policy ignores its own failures, so that they never block a pod. The test must see them.
	fail := admissionregistration.Fail
	if *mutation.Spec.FailurePolicy != admissionregistration.Ignore {
		t.Errorf("failurePolicy is %s; want Ignore", *mutation.Spec.FailurePolicy)
	}
	mutation.Spec.FailurePolicy = &fail
	objects := []runtime.Object{&mutation, &mutationBinding, &validation, &validationBinding}
	for _, name := range []string{"agents", "fire", "water"} {
		objects = append(objects, &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
	}
	mutator, err := mutating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	validator, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	cluster := client{fake.NewClientset(objects...)}
	factory := informers.NewSharedInformerFactory(cluster, 0)
	t.Cleanup(factory.Shutdown)
	t.Cleanup(stop)
	mapper := restmapper.NewDiscoveryRESTMapper(nil)
	initialize := initializer.New(cluster, dynamic.NewSimpleDynamicClient(scheme.Scheme), factory, authorizerfactory.NewAlwaysAllowAuthorizer(), feature.DefaultFeatureGate, nil, ctx.Done(), mapper)
	for _, plugin := range []admission.InitializationValidator{mutator, validator} {
		initialize.Initialize(plugin.(admission.Interface))
		if err := plugin.ValidateInitialization(); err != nil {
			t.Fatal(err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if !mutator.WaitForReady() || !validator.WaitForReady() {
		t.Fatal("the admission plugins did not become ready")
	}
	return admitter{mutator, validator}
}

// warnings collects the warnings for a client.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// try returns a pod after the mutation, and what the validation says of it.
func (a admitter) try(t *testing.T, pod *core.Pod) (admitted *core.Pod, warned []string, denied error) {
	t.Helper()
	admitted = pod.DeepCopy()
	var said warnings
	ctx := warning.WithWarningRecorder(t.Context(), &said)
	attributes := admission.NewAttributesRecord(admitted, nil, core.SchemeGroupVersion.WithKind("Pod"), pod.Namespace, pod.Name,
		core.SchemeGroupVersion.WithResource("pods"), "", admission.Create, &meta.CreateOptions{}, false, nil)
	if err := a.mutating.Admit(ctx, attributes, interfaces{}); err != nil {
		t.Fatalf("admit: %v", err)
	}
	denied = a.validating.Validate(ctx, attributes, interfaces{})
	return admitted, said, denied
}

// admit returns a pod after its admission.
func (a admitter) admit(t *testing.T, pod *core.Pod) *core.Pod {
	t.Helper()
	admitted, warned, denied := a.try(t, pod)
	if denied != nil || len(warned) > 0 {
		t.Fatalf("denied with %v, warned with %q", denied, warned)
	}
	return admitted
}

type interfaces struct{ admission.ObjectInterfaces }

func (interfaces) GetObjectCreater() runtime.ObjectCreater     { return scheme.Scheme }
func (interfaces) GetObjectTyper() runtime.ObjectTyper         { return scheme.Scheme }
func (interfaces) GetObjectDefaulter() runtime.ObjectDefaulter { return scheme.Scheme }
func (interfaces) GetObjectConvertor() runtime.ObjectConvertor { return scheme.Scheme }
func (interfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return runtime.NewEquivalentResourceRegistry()
}

// pods are the pods to admit, by name, and whether each is injected.
var pods = map[string]struct {
	injected  bool
	namespace string
	text      string
}{
	"bare": {true, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {containers: [{name: agent, image: agent}]}`},
	"everything": {true, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}, annotations: {example.org/owner: fire}}
spec:
  initContainers: [{name: first, image: first}, {name: mesh, image: mesh, restartPolicy: Always}]
  containers: [{name: agent, image: agent, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, emptyDir: {}}]`},
	"own configuration": {true, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}, annotations: {delegraph.dev/config: "sources: []"}}
spec: {containers: [{name: agent, image: agent}]}`},
	"injected already": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {containers: [{name: agent, image: agent}], initContainers: [{name: delegraph, image: mine, restartPolicy: Always}]}`},
	"a job's": {true, "fire", `
metadata: {generateName: a-, labels: {delegraph.dev/inject: "true"}}
spec: {restartPolicy: Never, hostNetwork: false, os: {name: linux}, nodeSelector: {disk: fast}, containers: [{name: agent, image: agent}]}`},
	"opted out": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "false"}}
spec: {containers: [{name: agent, image: agent}]}`},
	"without the label": {false, "fire", `
metadata: {name: a}
spec: {containers: [{name: agent, image: agent}]}`},
	"in another namespace": {false, "water", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {containers: [{name: agent, image: agent}]}`},
}

// TestInjection applies the rendered policy with Kubernetes' own code.
func TestInjection(t *testing.T) {
	values := valuesFiles(t)["inject"]
	rendered := render(t, chart, "--values", values)
	admitter := newAdmitter(t, rendered)
	var included core.Pod // the same container, as another chart includes it
	strictly(t, only(t, render(t, chart, "--values", values, "--set", "mode=library"), "Pod"), &included)
	var given struct{ Config map[string]any }
	text, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	strictlyEnough(t, string(text), &given)
	for name, c := range pods {
		t.Run(name, func(t *testing.T) {
			var before core.Pod
			strictly(t, c.text, &before)
			before.Namespace = c.namespace
			after := admitter.admit(t, &before)
			if !c.injected {
				same(t, before, *after)
				return
			}
			checkPod(t, after)
			n := len(before.Spec.InitContainers)
			same(t, before.Spec.Containers, after.Spec.Containers)
			same(t, before.Spec.InitContainers, after.Spec.InitContainers[:n])
			same(t, before.Spec.Volumes, after.Spec.Volumes[:len(before.Spec.Volumes)])
			same(t, withoutService(included.Spec.InitContainers[0]), withoutService(after.Spec.InitContainers[n]))
			configured := after.Annotations["delegraph.dev/config"]
			if own := before.Annotations["delegraph.dev/config"]; own != "" {
				same(t, own, configured)
				return
			}
			var config map[string]any
			strictlyEnough(t, configured, &config)
			same(t, given.Config, config)
			again := admitter.admit(t, after)
			same(t, *after, *again)
			after.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Pod"} // for kubeconform
			shown, err := yaml.Marshal(after)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "injected "+name+".golden"), string(shown))
		})
	}
}

// withoutService returns a container without its service name, which an injected pod takes from its labels or owner.
func withoutService(container core.Container) core.Container {
	container.Env = slices.DeleteFunc(slices.Clone(container.Env), func(v core.EnvVar) bool { return v.Name == "OTEL_SERVICE_NAME" })
	return container
}

// TestInjectedParts checks fractional resources: the sidecar gets what its values request.
func TestInjectedParts(t *testing.T) {
	resources := `resources={"requests":{"cpu":0.5,"memory":"1Gi"},"limits":{"cpu":1.5,"memory":2147483648}}`
	rendered := render(t, chart, "--values", valuesFiles(t)["inject"], "--set-json", resources)
	var pod core.Pod
	strictly(t, pods["bare"].text, &pod)
	pod.Namespace = "fire"
	after := newAdmitter(t, rendered).admit(t, &pod)
	checkPod(t, after)
	got := after.Spec.InitContainers[0].Resources
	for name, c := range map[string]struct{ got, want string }{
		"request of CPU": {got.Requests.Cpu().String(), "500m"}, "limit of CPU": {got.Limits.Cpu().String(), "1500m"},
		"request of memory": {got.Requests.Memory().String(), "1Gi"}, "limit of memory": {got.Limits.Memory().String(), "2147483648"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %s; want %s", name, c.got, c.want)
		}
	}
}

// TestInjectedTest admits the pod of `helm test`, which uses a volume that only the injection adds.
func TestInjectedTest(t *testing.T) {
	rendered := render(t, chart, "--values", valuesFiles(t)["inject-everywhere"])
	var pod core.Pod
	strictly(t, only(t, rendered, "Pod"), &pod)
	pod.Namespace = "agents"
	if len(pod.Spec.Volumes) != 0 || len(pod.Spec.Containers[0].VolumeMounts) != 1 {
		t.Errorf("the pod would be valid without the injection: %v", pod.Spec)
	}
	after := newAdmitter(t, rendered).admit(t, &pod)
	checkPod(t, after)
	checkNames(t, after, after.Spec.Containers[0])
	checkRestricted(t, &after.Spec)
}
