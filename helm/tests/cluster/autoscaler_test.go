//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const metricsAPI = "/apis/custom.metrics.k8s.io/v1beta2"

// adapter stands in for an adapter of custom metrics: it serves what each gateway's own /metrics says about its readers.
type adapter struct{ t *testing.T }

func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type object = map[string]any
	answer := object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "custom.metrics.k8s.io/v1beta2", "resources": []object{
		{"name": "pods/delegraph_stream_subscribers", "namespaced": true, "kind": "MetricValueList", "verbs": []string{"get"}},
	}}
	if space, asked := strings.CutPrefix(r.URL.Path, metricsAPI+"/namespaces/"); asked {
		space, _, _ = strings.Cut(space, "/")
		pods, err := cluster.CoreV1().Pods(space).List(r.Context(), meta.ListOptions{LabelSelector: r.URL.Query().Get("labelSelector")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		items := []object{}
		for _, pod := range pods.Items {
			if text, err := call(r.Context(), http.MethodGet, "http://"+pod.Status.PodIP+":10477/metrics", ""); err == nil {
				_, value, _ := strings.Cut(text, "\ndelegraph_stream_subscribers ")
				value, _, _ = strings.Cut(value, "\n")
				items = append(items, object{
					"describedObject": object{"kind": "Pod", "namespace": space, "name": pod.Name, "apiVersion": "v1"},
					"metric":          object{"name": "delegraph_stream_subscribers"}, "timestamp": meta.Now(), "value": value,
				})
			}
		}
		answer = object{"kind": "MetricValueList", "apiVersion": "custom.metrics.k8s.io/v1beta2", "metadata": object{}, "items": items}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// serve registers the adapter with the API server.
func (a adapter) serve(space string) {
	a.t.Helper()
	listener, err := net.Listen("tcp", nodeAddress+":0")
	if err != nil {
		a.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(a)
	server.Listener.Close()
	server.Listener = listener
	server.StartTLS()
	a.t.Cleanup(server.Close)
	name, port, ready := "https", int32(listener.Addr().(*net.TCPAddr).Port), true
	protocol := core.ProtocolTCP
	made := &core.Service{ObjectMeta: meta.ObjectMeta{Name: "adapter"}, Spec: core.ServiceSpec{Ports: []core.ServicePort{{Name: name, Port: 443}}}}
	slice := &discovery.EndpointSlice{
		ObjectMeta:  meta.ObjectMeta{Name: "adapter", Labels: map[string]string{discovery.LabelServiceName: "adapter"}},
		AddressType: discovery.AddressTypeIPv4,
		Endpoints:   []discovery.Endpoint{{Addresses: []string{nodeAddress}, Conditions: discovery.EndpointConditions{Ready: &ready}}},
		Ports:       []discovery.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}},
	}
	_, first := cluster.CoreV1().Services(space).Create(a.t.Context(), made, meta.CreateOptions{})
	_, second := cluster.DiscoveryV1().EndpointSlices(space).Create(a.t.Context(), slice, meta.CreateOptions{})
	registration := fmt.Sprintf(`{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta2.custom.metrics.k8s.io"}, "spec": {
		"group": "custom.metrics.k8s.io", "version": "v1beta2", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
		"service": {"name": "adapter", "namespace": %q, "port": 443}}}`, space)
	services := cluster.Discovery().RESTClient()
	third := services.Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").Body([]byte(registration)).Do(a.t.Context()).Error()
	if err := errors.Join(first, second, third); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = services.Delete().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io").Do(context.Background()).Error()
	})
}

// TestAutoscaler connects five readers to a gateway that is to have two for each pod, and waits for the third pod.
func TestAutoscaler(t *testing.T) {
	needsNode(t)
	const space = "autoscaler"
	namespace(t, space)
	fleet(t, space)
	adapter{t}.serve(space)
	helm(t, space, "stream", chart, strings.ReplaceAll(gatewayValues, "REPLICAS", "autoscaling: {enabled: true, minReplicas: 1, maxReplicas: 4, cpu: 0, subscribers: 2}"))
	ready(t, space, "gateway", "")
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	front := addressOf(t, space, "stream-delegraph")
	for range 5 {
		following.Go(func() { (&reader{}).follow(ctx, front) })
	}
	eventually(t, "three pods", func(ctx context.Context) error {
		found, err := cluster.AutoscalingV2().HorizontalPodAutoscalers(space).Get(ctx, "stream-delegraph", meta.GetOptions{})
		if err != nil {
			return err
		}
		if found.Status.DesiredReplicas > 3 {
			t.Fatalf("%d pods are desired", found.Status.DesiredReplicas)
		}
		if found.Status.DesiredReplicas < 3 {
			return fmt.Errorf("%d are desired: %v", found.Status.DesiredReplicas, found.Status.Conditions)
		}
		return nil
	})
	rolledOut(t, space, "stream-delegraph", 3, 1)
	t.Log("five readers, at most two for each pod: the autoscaler made three pods of one")
}
