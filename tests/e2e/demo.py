#!/usr/bin/env python3
"""Two minutes of opid: answers get lost, callers retry, and the provider's ledger shows each payment once.

Starts a fake payment provider and the real proxy on loopback ports of their own; nothing leaves this machine.
"""
import sys

from client import once
from opid import Opid, base_config, demo_profile
from provider import Provider

PAYMENT = '{"amount": 4200, "currency": "EUR", "to": "Ada"}'


class Demo:
    def __init__(self, opid, provider):
        self.opid, self.provider = opid, provider

    def pay(self, operation_id, what, body=PAYMENT):
        answer = once(("127.0.0.1", self.opid.ports["proxy"]), "POST", "/demo/payments",
                      {"Operation-Id": operation_id, "Content-Type": "application/json"}, body)
        facts = [f"{answer.status}", answer.problem or "the provider's answer",
                 f"operation {answer.headers.get('Operation-Status')}"]
        if answer.replayed:
            facts.append("replayed from the record")
        print(f"  {what:<44} -> {', '.join(facts)}")
        print(f"  {'':<44}    provider: {len(self.provider.attempts)} requests, {self.provider.effects} payments")
        return answer.status


def scene(title, profile, mode, play):
    print(f"\n{title}")
    provider = Provider(mode=mode, key="header:Idempotency-Key")
    try:
        with Opid(base_config(), [demo_profile(provider.authority, **profile)]) as opid:
            play(Demo(opid, provider), provider)
        if provider.effects != 1:
            sys.exit(f"demo: the ledger shows {provider.effects} payments, one was wanted")
    finally:
        provider.close()


def with_keys(demo, provider):
    provider.script([{"commit": 1, "then": "drop"}])
    demo.pay("pay-1", "the provider pays, its answer is lost")
    demo.pay("pay-1", "the agent tries again, to be sure")
    demo.pay("pay-1", "the agent tries with another amount", PAYMENT.replace("4200", "9900"))


def without_keys(demo, provider):
    provider.script([{"commit": 1, "then": "drop"}])
    demo.pay("pay-2", "the provider pays, its answer is lost")
    demo.pay("pay-2", "the agent tries again, to be sure")


if __name__ == "__main__":
    scene("A provider that honours idempotency keys: opid finds out by itself.",
          {"key": {"carrier": "header:Idempotency-Key", "window": {"for": "24h"}},
           "rules": [{"name": "payment", "match": {"method": "POST", "path": "/payments"},
                      "recovery": [{"keyed_retry": {"attempts": 3, "backoff": "100ms..1s"}}, {"review": {}}]}]},
          "keyed", with_keys)
    scene("A provider without keys: nothing is sent twice, and a person decides (opid ops resolve).",
          {}, "plain", without_keys)
    print("\nOne payment each.")
