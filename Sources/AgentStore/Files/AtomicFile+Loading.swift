// SPDX-License-Identifier: MIT

internal import AgentCore

extension AtomicFile {
    /// Finds the newest generation, sets damaged copies aside and puts right what an interruption left.
    func loadNewest() throws(StoreProblem) -> Form? {
        let surveys = try surveyAll()
        let newest = surveys.filter { $0.best != nil }.max { left, right in
            (left.best?.copy.generation ?? 0) < (right.best?.copy.generation ?? 0)
        }
        if newest == nil, let fault = surveys.compactMap(\.fault).first { throw .file(fault) }
        for survey in surveys { setDamagedAside(survey, isReplaced: newest != nil) }
        guard let newest, let best = newest.best else { return nil }
        putRight(newest, others: surveys.filter { $0.place !== newest.place })
        return best.copy.form
    }

    /// The newest copy that is older than the newest of all and holds something else.
    func copyBeforeNewest() throws(StoreProblem) -> FileCopy<Form>? {
        var copies: [FileCopy<Form>] = []
        for survey in try surveyAll() {
            guard let best = survey.best else { continue }
            copies.append(best.copy)
            if best.origin == .main, let copy = try look(at: names.previous, in: survey.place).copy {
                copies.append(copy)
            }
        }
        copies.sort { $0.generation > $1.generation }
        guard let newest = copies.first else { return nil }
        return copies.first { !$0.content.isEqual(to: newest.content) }
    }

    /// What each directory holds.
    ///
    /// - Throws: The problem of the state directory, unless the one that stands in holds something.
    func surveyAll() throws(StoreProblem) -> [FileSurvey<Form>] {
        let standIn = try standInSurvey(isNeeded: false)
        do {
            guard let place = try primaryIfThere() else { return [standIn].compactMap(\.self) }
            return [try survey(place), standIn].compactMap(\.self)
        } catch {
            guard case .file = error, let standIn, standIn.best != nil else { throw error }
            return [standIn]
        }
    }

    /// What the directory holds that stands in; `nil` when there is none.
    func standInSurvey(isNeeded: Bool) throws(StoreProblem) -> FileSurvey<Form>? {
        guard let place = directory.standIn(isNeeded: isNeeded) else { return nil }
        return try survey(place)
    }

    /// What one directory holds.
    func survey(_ place: OpenDirectory) throws(StoreProblem) -> FileSurvey<Form> {
        try FileSurvey(of: place, names: names) { (name) throws(StoreProblem) in
            try look(at: name, in: place)
        }
    }

    /// Reads one copy.
    ///
    /// - Throws: A refusal, for a copy of a newer version and for one whose host key is not here.
    private func look(at name: String, in place: OpenDirectory) throws(StoreProblem) -> FileCopyState<Form> {
        let bytes: ErasedBuffer
        do {
            guard let read = try place.read(name) else { return .absent }
            bytes = try read.get()
        } catch let error as FileError {
            return .unreadable(error)
        } catch let error as StoredFormError {
            return .bad(error.reason)
        } catch {
            return .bad("cannot be read")
        }
        guard bytes.count > 0 else { return .bad("is empty") }
        guard let frame = FileFrame(parsing: bytes) else { return .bad("does not match its digest") }
        guard frame.kind == kind else { return .bad("is another file") }
        let path = "\(place.path)/\(name)"
        guard frame.version <= Form.version else {
            throw .refused(
                .storeUnusable(
                    path: path,
                    reason: "is of version \(frame.version) and this agent reads up to \(Form.version); "
                        + "install the newer agent again, or move the file away to go on without it"))
        }
        let content: ErasedBuffer
        switch frame.body {
        case .clear(let bytes):
            content = bytes
        case .sealed(let keyIdentifier, let nonce, let ciphertext):
            let key = try hostKey(named: keyIdentifier, for: path)
            guard
                let opened = AtRestCipher(key: key).open(
                    ciphertext, nonce: nonce, kind: kind, version: frame.version,
                    generation: frame.generation)
            else { return .bad("does not belong to the host key") }
            content = opened
        }
        do {
            guard let form = try format.read(frame.version, content) else {
                return .bad("is of version \(frame.version), which never was")
            }
            var isSealed = false
            if case .sealed = frame.body { isSealed = true }
            return .good(
                FileCopy(
                    form: form, content: content, version: frame.version, generation: frame.generation,
                    isSealed: isSealed))
        } catch {
            return .bad(error.reason)
        }
    }

    private func hostKey(named identifier: String, for path: String) throws(StoreProblem) -> HostKey {
        guard let ring = directory.hostKeys else {
            throw .refused(
                .storeUnusable(
                    path: path,
                    reason: "is encrypted and no host_key_file is set; set it in agent.conf, or give this "
                        + "device's identity up with: nexusguard reset"))
        }
        guard let key = try ring.existing(), key.identifier == identifier else {
            throw .refused(ring.lost(path))
        }
        return key
    }

    /// Renames damaged copies and reports them.
    private func setDamagedAside(_ survey: FileSurvey<Form>, isReplaced: Bool) {
        for (name, state) in [(names.main, survey.main), (names.previous, survey.previous)] {
            let fault: String
            switch state {
            case .absent, .good:
                continue
            case .bad(let reason):
                fault = "\(reason)\(setAside(name, in: survey.place))"
            case .unreadable(let error):
                fault = "cannot be read (\(error))"
            }
            if isReplaced {
                directory.monitor.report(
                    StoreHealth.recovered, "\(name) \(fault); an older or unfinished copy is used")
            } else {
                directory.monitor.report(
                    StoreHealth.damaged, "\(name) \(fault); no good copy of it is left", level: .error)
            }
        }
    }

    private func setAside(_ name: String, in place: OpenDirectory) -> String {
        do {
            return ", and is kept as \(try place.setAside(name))"
        } catch {
            return ", and cannot be renamed (\(error))"
        }
    }
}
