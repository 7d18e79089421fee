// SPDX-License-Identifier: MIT

import FoundationEssentials
import Harness
import NexusGuardAgent
import Testing

@testable internal import nexusguard

@Suite("the traffic of the last ten minutes")
struct TrafficHistoryTests {
    private let now = Date(timeIntervalSince1970: 1_782_464_400)

    private func sample(_ seconds: Double, _ received: UInt64, _ sent: UInt64 = 0) -> TrafficSample {
        TrafficSample(time: now.addingTimeInterval(seconds), received: received, sent: sent)
    }

    @Test("a sample is read from what the daemon sends")
    func parsing() throws {
        let json = #"{"time":"2026-06-26T09:00:00Z","received":1000,"sent":20,"handshakeAge":65}"#
        let sample = try TrafficSample(JSONFields(parsing: Array(json.utf8)))
        #expect(sample == TrafficSample(time: now, received: 1000, sent: 20, handshakeAge: 65))
        let early = #"{"time":"2026-06-26T09:00:00Z","received":0,"sent":0,"handshakeAge":null}"#
        #expect(try TrafficSample(JSONFields(parsing: Array(early.utf8))).handshakeAge == nil)
        for wrong in [#"{"received":1}"#, #"{"time":"x"}"#, #"{"time":"2026-06-26T09:00:00Z","sent":-1}"#] {
            #expect(throws: AgentError.self) { try TrafficSample(JSONFields(parsing: Array(wrong.utf8))) }
        }
    }

    @Test(
        "the rate is that of the last two samples, 0 after a fall, and unknown when they are old or far apart"
    )
    func rate() {
        var history = TrafficHistory()
        #expect(history.rate(\.received, now: now) == nil)
        history.add(sample(-10, 1000))
        #expect(history.rate(\.received, now: now) == nil)
        history.add(sample(-5, 6000, 50))
        #expect(history.rate(\.received, now: now) == 1000)
        #expect(history.rate(\.sent, now: now) == 10)
        history.add(sample(0, 300))
        #expect(history.rate(\.received, now: now) == 0)
        #expect(history.rate(\.received, now: now.addingTimeInterval(31)) == nil)
        history.add(sample(60, 9000))
        #expect(history.rate(\.received, now: now.addingTimeInterval(60)) == nil)
        // One that comes a second time changes nothing.
        let before = history.samples
        history.add(sample(60, 1))
        history.add(sample(20, 1))
        #expect(history.samples == before)
    }

    @Test("what is older than ten minutes is forgotten")
    func memory() {
        var history = TrafficHistory()
        for second in stride(from: 0.0, through: 7200, by: 5) { history.add(sample(second, UInt64(second))) }
        #expect(history.samples.count <= 127)
        #expect(history.samples.last?.time == now.addingTimeInterval(7200))
        history.replace(with: [sample(-5, 2), sample(-10, 1)])
        #expect(history.samples == [sample(-10, 1), sample(-5, 2)])
    }

    @Test(
        "the parts are the means of the intervals that end in them", arguments: 1...8 as ClosedRange<UInt64>)
    func parts(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var history = TrafficHistory()
        var all: [TrafficSample] = []
        var (time, total) = (-700.0, UInt64(0))
        while time < -1 {
            time += Double.random(in: 1...40, using: &generator)
            total += UInt64.random(in: 0...100_000, using: &generator)
            all.append(sample(time, total))
        }
        for sample in all where sample.time <= now { history.add(sample) }
        for count in [1, 7, 60, 120] {
            // The naive model: each part looks through all intervals.
            let expected = (0..<count).map { part -> Double? in
                let length = 600.0 / Double(count)
                let start = now.addingTimeInterval(-600 + Double(part) * length)
                let rates = zip(all, all.dropFirst()).compactMap { former, sample -> Double? in
                    let seconds = sample.time.timeIntervalSince(former.time)
                    let place = sample.time.timeIntervalSince(start)
                    // The last part holds this very moment as well.
                    let isIn = place >= 0 && (place < length) && sample.time > now.addingTimeInterval(-600)
                    guard isIn || (part == count - 1 && sample.time == now), sample.time <= now, seconds <= 30
                    else { return nil }
                    return Double(sample.received - former.received) / seconds
                }
                return rates.isEmpty ? nil : rates.reduce(0, +) / Double(rates.count)
            }
            let found = history.rates(\.received, parts: count, now: now)
            #expect(found.count == count)
            for (found, expected) in zip(found, expected) {
                #expect((found == nil) == (expected == nil), "seed \(seed)")
                #expect(abs((found ?? 0) - (expected ?? 0)) < 0.001, "seed \(seed)")
            }
        }
    }

    @Test("bars reach from the lowest to the highest, with blanks where nothing is known")
    func bars() {
        #expect(Sparkline.text([nil, 0, 1, 50, 100, nil], usesUnicode: true) == " ▁▂▅█ ")
        #expect(Sparkline.text([nil, 0, 1, 50, 100, nil], usesUnicode: false) == " _.+# ")
        #expect(Sparkline.text([0, 0], usesUnicode: true) == "▁▁")
        #expect(Sparkline.text([], usesUnicode: true) == "")
        #expect(
            Sparkline.rows([0, 1, 16, 24, nil], height: 3, usesUnicode: true) == ["   █ ", "  ██ ", "▁▁██ "])
        #expect(Sparkline.rows([0, 24], height: 3, usesUnicode: false) == ["_#"])
    }

    @Test(
        "rates have a unit that keeps the number short",
        arguments: [
            (0.0, "0 B/s"), (512.4, "512 B/s"), (999.4, "999 B/s"), (999.6, "1 kB/s"), (1234, "1.2 kB/s"),
            (99_960, "100 kB/s"), (123_456, "123 kB/s"), (34_000_000, "34 MB/s"), (1.25e9, "1.3 GB/s"),
            (-5, "0 B/s"),
        ])
    func rates(value: Double, text: String) {
        #expect(Wording.rate(value) == text)
    }
}
