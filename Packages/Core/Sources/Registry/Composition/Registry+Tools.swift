public import Capabilities

extension Registry {
    /// All sources of tools for a model that works at a place: those that are always the same, then those of the place.
    ///
    /// - Parameter tell: receives what the person should know, such as that a source was left out.
    public func toolSources(
        at place: ToolPlace, telling tell: @escaping @Sendable (String) -> Void
    ) async throws -> [any ToolSource] {
        var sources = all((any ToolSource).self)
        for catalog in all((any ToolCatalog).self) { sources += try await catalog.sources(at: place, telling: tell) }
        return sources
    }
}
