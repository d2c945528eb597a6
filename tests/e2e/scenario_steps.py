"""The steps of a scenario that are no requests: `do: NAME` runs the method do_NAME. A new step is a new method."""
import client
import outcomes
from opid import merge


class NotBuilt(Exception):
    """The scenario needs a step that the runner cannot do yet: it is skipped, with this text."""


class OtherSteps:
    """Mixed into Run, whose opid, provider, setup and threads it works on."""

    def act(self, number, step):
        do = step["do"]
        act = getattr(self, "do_" + do, None)
        if act is None:
            raise NotBuilt(f"step `{do}` is not built yet")
        act(number, step)
        if "state" in step:
            self.check_state(number, step)

    def do_kill(self, number, step):
        self.opid.kill()
        if self.scenario.get("workers", 1) > 1:
            self.opid.start()       # another worker takes over the store: here a new process on it

    def do_restart(self, number, step):
        if self.opid.alive() and self.scenario.get("workers", 1) > 1:
            return
        self.opid.restart()

    def do_clock(self, number, step):
        self.opid.restart(advance_s=step["advance_s"])
        if step.get("sweep", True):
            self.do_sweep(number, step)

    def do_sweep(self, number, step):
        r = self.opid.admin("POST", "/v1/store/sweep")
        if r.status // 100 != 2:
            self.complain(f"step {number}", [f"sweep: {r}"])

    def do_open(self, number, step):
        self.provider.open_gate(step["gate"])

    def do_join(self, number, step):
        for thread in self.threads:
            thread.join(60)

    def do_wait_status(self, number, step):
        wanted = step["is"] if isinstance(step["is"], list) else [step["is"]]
        client.until(lambda: self.opid.status(step["op"], tenant=step.get("tenant")) in wanted,
                     f"status of {step['op']} becomes {wanted}")

    def do_store(self, number, step):
        state = step["state_is"]
        was_down = getattr(self, "store_state", "up") == "down"
        self.opid.store(state)
        self.store_state = state
        if state == "up" and was_down:
            self.opid.restart(hard=True)    # a failed sync is healed by a restart only
        elif state == "up" and not self.opid.becomes_ready():
            self.complain(f"step {number}", ["the store did not heal by itself"])

    def do_config(self, number, step):
        self.opid.write_config(merge(self.opid.config, step["set"]))
        self.opid.restart()

    def do_profile(self, number, step):
        self.setup.profiles = [merge(p, step["set"]) for p in self.setup.profiles]
        self.opid.write_profiles(self.setup.profiles)
        r = self.opid.reload()
        if r.status // 100 != 2:
            self.complain(f"step {number}", [f"reload: {r}"])

    def admin_step(self, number, step, what, body):
        path = self.opid.operation_path(step["op"], what, tenant=step.get("tenant"),
                                        provider=step.get("provider"))
        r = self.opid.admin("POST", path, body)
        expected = step.get("expect", "2xx")
        if not outcomes.status_fits(r, str(expected)):
            self.complain(f"step {number}", [f"{what} answered {r}, expected {expected}"])

    def do_resolve(self, number, step):
        body = {k: step[k] for k in ("as", "reason", "provider_ref", "response") if k in step}
        self.admin_step(number, step, "/resolution", body)

    def do_cancel(self, number, step):
        self.admin_step(number, step, "/cancellation", {"reason": step.get("reason", "not wanted any more")})

    def do_approve(self, number, step):
        digest = self.opid.admin("GET", self.opid.operation_path(step["op"])).json["digest"]
        self.admin_step(number, step, "/approval", {"digest": digest, "expires_in": "1h"})

    def do_recover(self, number, step):
        with self.provider.lock:
            upstream = step.get("upstream")
            self.provider.script(None if upstream == "keyed" else upstream or [])
        self.admin_step(number, step, "/recovery", None)
