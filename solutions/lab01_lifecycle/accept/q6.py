# %% the list is taken away first
class Holdings:
    def __init__(self):
        self._releases = []
        self.release_errors = []

    def hold(self, name, release):
        self._releases.append((name, release))

    def problems(self):
        return [f"{type(error).__name__}: {error}" for error in self.release_errors]

    def release(self):
        held, self._releases = self._releases, []
        for _, give_back in reversed(held):
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)


# %% pop until it is empty, kept as a stack of its own
class Holdings:
    def __init__(self):
        self.stack = {}
        self.release_errors = []

    def hold(self, name, release):
        self.stack[len(self.stack), name] = release

    def problems(self):
        return list(map("{0.__class__.__name__}: {0}".format, self.release_errors))

    def release(self):
        if not self.stack:
            return
        _, give_back = self.stack.popitem()
        try:
            give_back()
        except Exception as error:
            self.release_errors += [error]
        finally:
            self.release()
