import Capabilities
import HostTesting
import Registry

extension TestWorkbench {
    /// The temporary folder, which is also the home.
    var home: String { folder }
    var userFile: String { "\(folder)/.config/martlet/config.json" }
}

/// Lends a workbench that finds its folders in the home, like that of a person who has set nothing.
func withBench<T>(
    _ features: any Feature.Type..., isolation: isolated (any Actor)? = #isolation,
    _ body: (inout TestWorkbench) async throws -> T
) async throws -> T {
    try await TestWorkbench.run(features) { bench in
        bench.isOneFolder = false
        return try await body(&bench)
    }
}

/// The failure that the body throws, as frontends see it; nil if it throws none.
func failure(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async -> AnyFailure? {
    do {
        try await body()
        return nil
    } catch {
        return AnyFailure(error)
    }
}
