"""A real Kubernetes control plane with a real Kueue and simulated nodes, on loopback, without containers.

`programs` compiles etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, Kueue and KWOK once, as pinned
Go tools; `plane` starts them with their own ports and state; `conftest` gives one running plane to all tests marked `live`.
"""
