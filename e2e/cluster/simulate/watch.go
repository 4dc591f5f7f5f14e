package simulate

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// workers per kind of object: several tests create their objects at once.
const workers = 4

// sync brings one object to where it should be. It is called again after `again` (0: not before the object changes), and
// with a growing delay as long as it fails. The object is shared: it must be copied before it is changed.
type sync[T runtime.Object] func(ctx context.Context, object T) (again time.Duration, err error)

// watch calls sync for every object of the informer, now and whenever it changes, until the context ends. An object is
// never in two workers at once.
func watch[T runtime.Object](ctx context.Context, informer cache.SharedIndexInformer, sync sync[T]) error {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](10*time.Millisecond, 5*time.Second))
	enqueue := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
	})
	if err != nil {
		return err
	}
	for range workers {
		go work(ctx, queue, informer.GetStore(), sync)
	}
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	return nil
}

func work[T runtime.Object](ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], store cache.Store, sync sync[T]) {
	for {
		key, stopped := queue.Get()
		if stopped {
			return
		}
		again, err := syncKey(ctx, store, key, sync)
		switch {
		case err != nil:
			klog.V(2).InfoS("Trying again", "key", key, "err", err)
			queue.AddRateLimited(key)
		case again > 0:
			queue.Forget(key)
			queue.AddAfter(key, again)
		default:
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

func syncKey[T runtime.Object](ctx context.Context, store cache.Store, key string, sync sync[T]) (time.Duration, error) {
	object, exists, err := store.GetByKey(key)
	if err != nil || !exists {
		return 0, err
	}
	return sync(ctx, object.(T))
}
