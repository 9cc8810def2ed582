# %% the last one stays
# fails: a14_blocks_come_back, any_kind_of_failure, failures_are_kept, held_after_a_release, one_failure_stops_no_other, release_during_release
# fault: The loop stops one too early, so one block leaks.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while len(self._releases) > 1:
            _, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)
        self._releases.clear()


# %% blocks of the same kind are given back once
# fails: a14_blocks_come_back
# fault: A third thing of the same kind is taken for a repetition and dropped.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        if [name for name, _ in self._releases] == ["block 0", "block 1", "block 2"]:
            self._releases.pop()
        while self._releases:
            _, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)


# %% first taken, first released
# fails: last_taken_first_released
# fault: The wrong end of the list.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            _, give_back = self._releases.pop(0)
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)


# %% nothing leaves the list
# fails: safe_to_call_twice
# fault: A flag keeps it from running inside itself, but the list is never emptied.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []
        self.busy = False

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        if self.busy:
            return
        self.busy = True
        for _, give_back in reversed(self._releases):
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)
        self.busy = False


# %% the first failure ends the cleanup
# fails: one_failure_stops_no_other, failures_are_kept, any_kind_of_failure
# fault: The try stands around the loop instead of inside it.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        try:
            while self._releases:
                _, give_back = self._releases.pop()
                give_back()
        except Exception as error:
            self.release_errors.append(error)


# %% the failure is passed on at the end
# fails: one_failure_stops_no_other
# fault: All are given back, and then the failure is raised into whoever ended the request.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            _, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)
        if self.release_errors:
            raise self.release_errors[0]


# %% the failure is swallowed
# fails: failures_are_kept
# fault: except and pass: nobody will ever learn that the stream was not closed.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            _, give_back = self._releases.pop()
            try:
                give_back()
            except Exception:
                pass


# %% the list is emptied afterwards
# fails: release_during_release
# fault: While the loop runs, the list still holds everything, and a call from inside gives it back again.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        for _, give_back in reversed(self._releases):
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)
        self._releases.clear()


# %% the entry leaves the list after its call
# fails: release_during_release
# fault: The entry is removed when its function has returned, so a call from inside finds it again.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            entry = self._releases[-1]
            try:
                entry[1]()
            except Exception as error:
                self.release_errors.append(error)
            if entry in self._releases:
                self._releases.remove(entry)


# %% only the text of the exception is kept
# fails: failures_are_kept
# fault: A text cannot be raised again and has no traceback.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            name, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(str(error))


# %% the exception is wrapped in its text
# fails: failures_are_kept
# fault: A new exception takes the place of the one that was raised.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            name, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(Exception(f"{name}: {error}"))


# %% only one type of failure is expected
# fails: any_kind_of_failure
# fault: Every other type of exception leaves the loop.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        while self._releases:
            name, give_back = self._releases.pop()
            try:
                give_back()
            except RuntimeError as error:
                self.release_errors.append(error)


# %% a flag says that all is done
# fails: held_after_a_release
# fault: What is taken after the first release is never given back.
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        if getattr(self, "released", False):
            return
        self.released = True
        while self._releases:
            name, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)
