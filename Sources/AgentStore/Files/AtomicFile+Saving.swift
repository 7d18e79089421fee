// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc

extension AtomicFile {
    /// Writes a content to the state directory, or to the one that stands in.
    func store(_ content: ErasedBuffer, keepsPrevious: Bool) throws(StoreProblem) {
        let standIn = try standInSurvey(isNeeded: false)
        var known = [standIn].compactMap(\.self)
        do {
            let survey = try survey(directory.primary())
            known.append(survey)
            if standIn?.best == nil, isStored(content, survey) {
                directory.monitor.noteInPlace(names.main, path: directory.path)
                return
            }
            try write(
                content, generation: generation(after: known), over: survey, keepsPrevious: keepsPrevious)
            if let standIn, standIn.best != nil { dropCopies(in: standIn.place) }
            directory.monitor.noteInPlace(names.main, path: directory.path)
        } catch {
            guard case .file(let problem) = error else { throw error }
            try store(content, inPlaceOf: problem, after: known, keepsPrevious: keepsPrevious)
        }
    }

    /// Removes what the directory that stands in held, now that the state directory has a newer generation.
    ///
    /// Where that fails, the lower generation still keeps it from coming up.
    private func dropCopies(in place: OpenDirectory) {
        do {
            try removeCopies(in: place)
        } catch {
            directory.monitor.note(
                "\(names.main) in \(place.path) is left: \(error.agentError)", level: .debug)
        }
    }

    /// Puts right what an interrupted save, a damaged copy or the lack of a host key left behind.
    ///
    /// What cannot be put right now stays as it is: it was good enough to load.
    func putRight(_ survey: FileSurvey<Form>, others: [FileSurvey<Form>]) {
        guard let best = survey.best else { return }
        for other in others where other.best != nil && survey.place.path == directory.path {
            dropCopies(in: other.place)
        }
        do {
            if survey.place.path != directory.path {
                try bringHome(best.copy, from: survey)
            } else if best.origin == .temporary {
                try promote(survey.place)
            } else if best.origin == .previous {
                if case .unreadable = survey.main { return }
                try replace(names.main, with: best.copy, in: survey.place)
            } else if seals, !best.copy.isSealed {
                try seal(survey, best.copy)
            }
            if options.keepsTwin, survey.place.path == directory.path {
                try keepTwin(of: best.copy, in: survey.place)
            }
        } catch {
            directory.monitor.note(
                "\(names.main) is left as it is for now: \(error.agentError)", level: .debug)
        }
    }

    /// Whether secrets of this file are encrypted.
    private var seals: Bool { options.isSecret && directory.hostKeys != nil }

    private func isStored(_ content: ErasedBuffer, _ survey: FileSurvey<Form>) -> Bool {
        guard let copy = survey.main.copy else { return false }
        return copy.content.isEqual(to: content) && copy.version == Form.version && copy.isSealed == seals
    }

    /// A number above those of all copies; by the clock, so that it is also above those not seen.
    private func generation(after surveys: [FileSurvey<Form>]) -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let microseconds = UInt64(max(now.tv_sec, 0)) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        let newest = surveys.compactMap { $0.best?.copy.generation }.max() ?? 0
        return max(microseconds, newest == .max ? newest : newest + 1)
    }

    private func store(
        _ content: ErasedBuffer, inPlaceOf problem: FileError, after known: [FileSurvey<Form>],
        keepsPrevious: Bool
    ) throws(StoreProblem) {
        do {
            guard let standIn = try standInSurvey(isNeeded: true) else { throw StoreProblem.file(problem) }
            if !isStored(content, standIn) {
                try write(
                    content, generation: generation(after: known + [standIn]), over: standIn,
                    keepsPrevious: keepsPrevious)
            }
        } catch {
            directory.monitor.report(
                StoreHealth.failed, "\(names.main) cannot be written to \(directory.path): \(problem)",
                level: .error)
            throw .file(problem)
        }
        directory.monitor.noteDisplaced(names.main, path: directory.path, because: problem.description)
    }

    /// Writes a new generation over what a survey found.
    ///
    /// Until the temporary file is on the disk, nothing else is touched; from then on a load finds it or an
    /// older good copy at each moment.
    private func write(
        _ content: ErasedBuffer, generation: UInt64, over survey: FileSurvey<Form>, keepsPrevious: Bool
    ) throws(StoreProblem) {
        let place = survey.place
        let bytes = try frame(content, version: Form.version, generation: generation)
        var main = survey.main
        if let best = survey.best, best.origin == .temporary {
            // It is the only good copy, and the new generation needs its name.
            try asStoreProblem { () throws(FileError) in
                try setAsideIfDamaged(survey.main, names.main, in: place)
            }
            try promote(place)
            main = .good(best.copy)
        }
        try asStoreProblem { () throws(FileError) in
            if case .unreadable = survey.temporary {
                // It may be the only good copy, and another disk or day may read it.
                try setAsideIfDamaged(survey.temporary, names.temporary, in: place)
            }
            try place.write(bytes, to: names.temporary)
            try setAsideIfDamaged(main, names.main, in: place)
            if case .good = main, keepsPrevious { try place.rename(names.main, to: names.previous) }
            try place.rename(names.temporary, to: names.main)
            try place.synchronize()
        }
        if options.keepsTwin {
            try asStoreProblem { () throws(FileError) in
                try place.write(bytes, to: names.temporary)
                try place.rename(names.temporary, to: names.previous)
                try place.synchronize()
            }
        }
    }

    private func frame(
        _ content: ErasedBuffer, version: Int, generation: UInt64
    ) throws(StoreProblem) -> ErasedBuffer {
        var body = FileFrame.Body.clear(content)
        if options.isSecret, let ring = directory.hostKeys {
            let key = try ring.existingOrNew { () throws(FileError) in try directory.holdsSealedFiles() }
            body = AtRestCipher(key: key).seal(content, kind: kind, version: version, generation: generation)
        }
        return FileFrame(kind: kind, version: version, generation: generation, body: body).bytes()
    }

    private func setAsideIfDamaged(
        _ state: FileCopyState<Form>, _ name: String, in place: OpenDirectory
    ) throws(FileError) {
        switch state {
        case .absent, .good:
            return
        case .bad(let reason):
            let newName = try place.setAside(name)
            directory.monitor.report(
                StoreHealth.recovered, "\(name) \(reason), and is kept as \(newName); a new copy replaces it")
        case .unreadable(let error):
            let newName = try place.setAside(name)
            directory.monitor.report(
                StoreHealth.recovered,
                "\(name) cannot be read (\(error)), and is kept as \(newName); a new copy replaces it")
        }
    }

    /// Makes a complete temporary file the newest generation.
    private func promote(_ place: OpenDirectory) throws(StoreProblem) {
        try asStoreProblem { () throws(FileError) in
            try place.rename(names.temporary, to: names.main)
            try place.synchronize()
        }
    }

    /// Writes a copy once more under one of the two names, without touching the other.
    private func replace(
        _ name: String, with copy: FileCopy<Form>, in place: OpenDirectory
    ) throws(StoreProblem) {
        let bytes = try frame(copy.content, version: copy.version, generation: copy.generation)
        try asStoreProblem { () throws(FileError) in
            try place.write(bytes, to: names.temporary)
            try place.rename(names.temporary, to: name)
            try place.synchronize()
        }
    }

    /// Encrypts both generations of a file that was stored in the clear.
    private func seal(_ survey: FileSurvey<Form>, _ copy: FileCopy<Form>) throws(StoreProblem) {
        try replace(names.main, with: copy, in: survey.place)
        if let older = try copyBeforeNewest() {
            try replace(names.previous, with: older, in: survey.place)
        } else {
            try asStoreProblem { () throws(FileError) in try survey.place.removeIfPresent(names.previous) }
        }
        directory.monitor.note("\(names.main) is encrypted from now on")
    }

    private func keepTwin(of copy: FileCopy<Form>, in place: OpenDirectory) throws(StoreProblem) {
        guard try asStoreProblem({ () throws(FileError) in try !place.names().contains(names.previous) })
        else { return }
        try replace(names.previous, with: copy, in: place)
    }

    /// Moves the newest generation from the directory that stands in to the state directory.
    private func bringHome(
        _ copy: FileCopy<Form>, from standIn: FileSurvey<Form>
    ) throws(StoreProblem) {
        do {
            let home = try survey(directory.primary())
            try write(
                copy.form.content(), generation: copy.generation, over: home,
                keepsPrevious: options.keepsPrevious)
            dropCopies(in: standIn.place)
            directory.monitor.noteInPlace(names.main, path: directory.path)
        } catch {
            guard case .file(let problem) = error else { throw error }
            directory.monitor.noteDisplaced(
                names.main, path: directory.path, because: problem.description)
        }
    }
}
