// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// The totals of the tunnel at one moment, as the daemon counts them.
struct TrafficSample: Equatable, Sendable {
    /// When they were read.
    var time: Date
    /// Bytes received so far.
    var received: UInt64
    /// Bytes sent so far.
    var sent: UInt64
    /// Seconds since the last handshake; `nil` before the first.
    var handshakeAge: Double?

    /// Creates a sample.
    init(time: Date, received: UInt64, sent: UInt64, handshakeAge: Double? = nil) {
        self.time = time
        self.received = received
        self.sent = sent
        self.handshakeAge = handshakeAge
    }

    /// Reads a sample out of its object.
    init(_ fields: JSONFields) throws(AgentError) {
        let text = try fields.required("time", fields.text("time", limit: 64))
        guard let time = RFC3339.date(text) else { throw fields.invalid("time", "is no date") }
        self.time = time
        received = UInt64(try fields.integer("received", in: 0...Int.max) ?? 0)
        sent = UInt64(try fields.integer("sent", in: 0...Int.max) ?? 0)
        handshakeAge = try fields.integer("handshakeAge", in: 0...Int.max).map { Double($0) }
    }
}

/// What went through the tunnel in the last ten minutes.
struct TrafficHistory: Sendable {
    /// How far back it goes, in seconds.
    static let span = 600.0
    /// The longest time between two samples that a rate is made of, in seconds.
    private static let longestGap = 30.0

    /// The samples, in the order of their times.
    private(set) var samples: [TrafficSample] = []

    /// Adds a sample; one that is not newer than the last is known already.
    mutating func add(_ sample: TrafficSample) {
        guard samples.last.map({ $0.time < sample.time }) ?? true else { return }
        samples.append(sample)
        let start = sample.time.addingTimeInterval(-Self.span - Self.longestGap)
        samples.removeAll { $0.time < start }
    }

    /// Puts what the daemon remembers in the place of everything before.
    mutating func replace(with samples: [TrafficSample]) {
        self.samples = []
        for sample in samples.sorted(by: { $0.time < $1.time }) { add(sample) }
    }

    /// Bytes a second between the last two samples; `nil` when they are not recent.
    func rate(_ count: KeyPath<TrafficSample, UInt64>, now: Date) -> Double? {
        guard samples.count >= 2, let last = samples.last,
            abs(now.timeIntervalSince(last.time)) <= Self.longestGap
        else { return nil }
        return Self.rate(count, from: samples[samples.count - 2], to: last)
    }

    /// The mean rates of so many equal parts of the last ten minutes, the oldest first; `nil` where nothing is known.
    func rates(_ count: KeyPath<TrafficSample, UInt64>, parts: Int, now: Date) -> [Double?] {
        guard parts > 0 else { return [] }
        var sums = [(sum: Double, count: Int)](repeating: (0, 0), count: parts)
        for (former, sample) in zip(samples, samples.dropFirst()) {
            let age = now.timeIntervalSince(sample.time)
            guard age >= 0, age < Self.span, let rate = Self.rate(count, from: former, to: sample) else {
                continue
            }
            let part = min(parts - 1, Int((Self.span - age) / Self.span * Double(parts)))
            sums[part].sum += rate
            sums[part].count += 1
        }
        return sums.map { $0.count == 0 ? nil : $0.sum / Double($0.count) }
    }

    private static func rate(
        _ count: KeyPath<TrafficSample, UInt64>, from former: TrafficSample, to sample: TrafficSample
    ) -> Double? {
        let seconds = sample.time.timeIntervalSince(former.time)
        guard seconds > 0, seconds <= longestGap else { return nil }
        let (before, after) = (former[keyPath: count], sample[keyPath: count])
        // A tunnel that was made anew counts from nothing.
        return after >= before ? Double(after - before) / seconds : 0
    }
}
