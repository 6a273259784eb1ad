package tests

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	feature "k8s.io/apiserver/pkg/util/feature"
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

// client is a fake one that knows the schemas that the admission code asks for.
type client struct{ *fake.Clientset }

func (c client) Discovery() discovery.DiscoveryInterfaces {
	return described{c.Clientset.Discovery()}
}

type described struct{ discovery.DiscoveryInterfaces }

func (described) OpenAPIV3() openapi.Client { return openapitest.NewEmbeddedFileClient() }

// admit has a pod admitted, as a kube-apiserver would, by the policy that the chart renders.
func admit(t *testing.T, policyText, bindingText string, pod *core.Pod) *core.Pod {
	t.Helper()
	var rendered admissionregistration.MutatingAdmissionPolicy
	var binding admissionregistration.MutatingAdmissionPolicyBinding
	strictly(t, policyText, &rendered)
	strictly(t, bindingText, &binding)
	// What only observes lets every pod pass; a test wants to see why nothing was changed.
	fail := admissionregistration.Fail
	if *rendered.Spec.FailurePolicy != admissionregistration.Ignore {
		t.Errorf("failurePolicy is %s; want Ignore", *rendered.Spec.FailurePolicy)
	}
	rendered.Spec.FailurePolicy = &fail
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: pod.Namespace, Labels: map[string]string{"team": pod.Namespace}}}

	plugin, err := mutating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	cluster := client{fake.NewClientset(&rendered, &binding, namespace)}
	factory := informers.NewSharedInformerFactory(cluster, 0)
	t.Cleanup(factory.Shutdown)
	t.Cleanup(stop)
	mapper := restmapper.NewDiscoveryRESTMapper(nil)
	initializer.New(cluster, dynamic.NewSimpleDynamicClient(scheme.Scheme), factory, authorizerfactory.NewAlwaysAllowAuthorizer(), feature.DefaultFeatureGate, nil, ctx.Done(), mapper).Initialize(plugin)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if !plugin.WaitForReady() {
		t.Fatal("the admission plugin did not become ready")
	}

	admitted := pod.DeepCopy()
	attributes := admission.NewAttributesRecord(admitted, nil, core.SchemeGroupVersion.WithKind("Pod"), pod.Namespace, pod.Name,
		core.SchemeGroupVersion.WithResource("pods"), "", admission.Create, &meta.CreateOptions{}, false, nil)
	if err := plugin.Admit(ctx, attributes, interfaces{}); err != nil {
		t.Fatalf("admit: %v", err)
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

// pods are what is admitted, by what is done to them: true for injected.
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
	"a Delegraph of its own": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {containers: [{name: delegraph, image: mine}]}`},
	"a Delegraph of another name": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {containers: [{name: agent, image: agent}], initContainers: [{name: watch, image: mine}], volumes: [{name: delegraph-config, emptyDir: {}}]}`},
	"another system": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {os: {name: windows}, containers: [{name: agent, image: agent}]}`},
	"another system's node": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {nodeSelector: {kubernetes.io/os: windows}, containers: [{name: agent, image: agent}]}`},
	"the node's network": {false, "fire", `
metadata: {name: a, labels: {delegraph.dev/inject: "true"}}
spec: {hostNetwork: true, containers: [{name: agent, image: agent}]}`},
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

// TestInjection has Kubernetes' own code apply the rendered policy.
func TestInjection(t *testing.T) {
	values := valuesFiles(t)["inject"]
	rendered := render(t, chart, "--values", values)
	policy, binding := only(t, rendered, "MutatingAdmissionPolicy"), only(t, rendered, "MutatingAdmissionPolicyBinding")
	var included core.Pod // the same container, as a chart includes it
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
			after := admit(t, policy, binding, &before)
			if !c.injected {
				same(t, before, *after)
				return
			}
			checkPod(t, after)
			n := len(before.Spec.InitContainers)
			same(t, before.Spec.Containers, after.Spec.Containers)
			same(t, before.Spec.InitContainers, after.Spec.InitContainers[:n])
			same(t, before.Spec.Volumes, after.Spec.Volumes[:len(before.Spec.Volumes)])
			same(t, included.Spec.InitContainers[0], after.Spec.InitContainers[n])
			configured := after.Annotations["delegraph.dev/config"]
			if own := before.Annotations["delegraph.dev/config"]; own != "" {
				same(t, own, configured)
				return
			}
			var config map[string]any
			strictlyEnough(t, configured, &config)
			same(t, given.Config, config)
			again := admit(t, policy, binding, after)
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

// TestInjectedParts has resources admitted that are no whole numbers: the sidecar gets what is asked for it.
func TestInjectedParts(t *testing.T) {
	resources := `resources={"requests":{"cpu":0.5,"memory":"1Gi"},"limits":{"cpu":1.5,"memory":2147483648}}`
	rendered := render(t, chart, "--values", valuesFiles(t)["inject"], "--set-json", resources)
	var pod core.Pod
	strictly(t, pods["bare"].text, &pod)
	pod.Namespace = "fire"
	after := admit(t, only(t, rendered, "MutatingAdmissionPolicy"), only(t, rendered, "MutatingAdmissionPolicyBinding"), &pod)
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

// TestInjectedTest has the pod of `helm test` admitted: it names a volume that only the injection brings.
func TestInjectedTest(t *testing.T) {
	rendered := render(t, chart, "--values", valuesFiles(t)["inject-everywhere"])
	var pod core.Pod
	strictly(t, only(t, rendered, "Pod"), &pod)
	pod.Namespace = "agents"
	if len(pod.Spec.Volumes) != 0 || len(pod.Spec.Containers[0].VolumeMounts) != 1 {
		t.Errorf("the pod would be admitted as it is: %v", pod.Spec)
	}
	after := admit(t, only(t, rendered, "MutatingAdmissionPolicy"), only(t, rendered, "MutatingAdmissionPolicyBinding"), &pod)
	checkPod(t, after)
	checkNames(t, after, after.Spec.Containers[0])
	checkRestricted(t, &after.Spec)
}
