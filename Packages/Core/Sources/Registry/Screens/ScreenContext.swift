import Capabilities
import JSON
public import Screens

/// What the body of a screen may use while the screen is open.
public struct ScreenContext: Sendable {
    /// The caller, the registry, the host and the tracer, as for an action.
    public let context: ActionContext
    private let view: OpenScreen

    init(_ context: ActionContext, _ view: OpenScreen) {
        self.context = context
        self.view = view
    }

    /// Shows a value instead of the one before. While nobody sees the screen it waits, unless the screen runs hidden.
    ///
    /// - Throws: `BlockTooLarge`, and `CancellationError` when the screen is closed.
    public func show(_ block: Block) async throws {
        try Task.checkCancellation()
        if let excess = block.excess { throw excess }
        view.publish(.ready(block))
        // A hidden screen must not keep its old settings in use.
        if !view.screen.runsHidden { try await view.waitUntilVisible { isOutdated } }
    }

    /// Waits until the value may be outdated: something was written in this session, the person asked for a refresh, or
    /// the interval is over. Several changes count as one.
    ///
    /// - Parameter interval: nil to wait only for changes.
    /// - Returns: always true, for use as the condition of a loop.
    /// - Throws: `CancellationError` when the screen is closed.
    @discardableResult
    public func changed(orAfter interval: Duration? = nil) async throws -> Bool {
        try await view.waitForChange(atMost: interval, context.host.clock)
        context.session.look { output.notice($0) }
        if isOutdated { throw ScreenOutdated() }
        return true
    }

    /// Whether there are newer settings.
    private var isOutdated: Bool { context.session.newest !== context.generation }

    /// Receives the notices and the progress of actions that the body performs.
    public var output: any ActionOutput { view.output }
}

/// The settings have changed: the body begins again with the new ones.
struct ScreenOutdated: Error {}
