// SPDX-License-Identifier: MIT

/// Packets through both ends of a tunnel: the time is that of sealing at one end and opening at the other.
enum EngineBenchmarks {
    static let all = [
        make("engine.64", EngineOptions(packetByteCount: 64)),
        make("engine.1420", EngineOptions(packetByteCount: 1_420)),
        make("engine.alone.64", EngineOptions(packetByteCount: 64, batchCount: 1)),
        make("engine.alone.1420", EngineOptions(packetByteCount: 1_420, batchCount: 1)),
        make("engine.tun.1420", EngineOptions(packetByteCount: 1_420, usesTun: true)),
        make("engine.udp.64", EngineOptions(packetByteCount: 64, usesLoopback: true)),
        make("engine.udp.1420", EngineOptions(packetByteCount: 1_420, usesLoopback: true)),
        make("engine.tun-udp.1420", EngineOptions(usesTun: true, usesLoopback: true)),
    ]

    private static func make(_ name: String, _ options: EngineOptions) -> Benchmark {
        Benchmark(name, operationsPerCall: options.batchCount, byteCount: options.packetByteCount) {
            var pair = try EnginePair(options)
            return { count in
                for _ in 0..<count { pair.exchange(options.batchCount) }
            }
        }
    }
}
