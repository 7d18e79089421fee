// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// Takes a sample of the tunnel's traffic at intervals, and keeps those of the last ten minutes.
actor TrafficRecorder {
    /// Between two samples.
    static let interval = Duration.seconds(5)
    /// How many are kept.
    static let capacity = 120

    private let control: any AgentControl
    private let clock: any AgentClock
    private var samples: [(instant: Duration, sample: TrafficSample)] = []
    private var readers: [UInt64: AsyncStream<TrafficSample>.Continuation] = [:]
    private var nextReader: UInt64 = 0
    private var task: Task<Void, Never>?
    private var hasEnded = false

    /// Creates a recorder that takes no samples yet.
    init(control: any AgentControl, clock: any AgentClock) {
        self.control = control
        self.clock = clock
    }

    /// Begins to take samples.
    func start() {
        guard task == nil, !hasEnded else { return }
        task = Task { [weak self, clock] in
            var next = clock.now
            while await clock.sleep(until: next) {
                guard let self else { return }
                await self.record()
                // After a pause of the host the samples that were missed are not made up for.
                next = max(next + Self.interval, clock.now)
            }
        }
    }

    /// Takes no more samples, and ends the streams.
    func stop() {
        hasEnded = true
        task?.cancel()
        for reader in readers.values { reader.finish() }
        readers = [:]
    }

    /// Each later sample; a slow reader gets only the newest.
    func stream() -> AsyncStream<TrafficSample> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TrafficSample.self, bufferingPolicy: .bufferingNewest(1))
        guard !hasEnded else {
            continuation.finish()
            return stream
        }
        nextReader += 1
        let identifier = nextReader
        readers[identifier] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.remove(identifier) }
        }
        return stream
    }

    /// The samples as a document, the oldest first.
    func document() -> [UInt8] {
        let oldest = clock.now - Self.interval * Self.capacity
        var writer = JSONWriter(capacity: 100 * samples.count + 64)
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("interval", Int(Self.interval.components.seconds))
        writer.name("samples")
        writer.beginArray()
        for (instant, sample) in samples where instant > oldest { sample.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private func remove(_ identifier: UInt64) { readers[identifier] = nil }

    private func record() async {
        guard let sample = TrafficSample(await control.snapshot, at: clock.date) else { return }
        samples.append((clock.now, sample))
        if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
        for reader in readers.values { reader.yield(sample) }
    }
}
