public import Capabilities
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
        _ = try await view.waitForChange(atMost: interval, context.host.clock)
        try requireNewest()
        return true
    }

    /// Waits like `changed(orAfter:)`, and also for a signal of the body itself, such as one for data that comes often.
    ///
    /// ```swift
    /// while true {
    ///     let seen = level.signal.count
    ///     try await screen.show(Block(.text("\(level.value)")))
    ///     try await screen.change(or: level.signal, beyond: seen)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - count: how often the signal was raised before the body read what it stands for.
    ///   - interval: nil to wait only for changes and for the signal.
    /// - Returns: why the wait has ended. If several reasons apply it is `outdated`, for which everything is read.
    /// - Throws: `CancellationError` when the screen is closed.
    @discardableResult
    public func change(
        or signal: Signal, beyond count: Int, orAfter interval: Duration? = nil
    ) async throws -> ScreenChange {
        let change = try await view.waitForChange(
            or: (signal, beyond: count), atMost: interval, context.host.clock)
        try requireNewest()
        return change
    }

    /// The value of this type that stays when the body begins again, for example after a change of settings. It is made
    /// when it is first asked for, and lasts until the screen is closed.
    public func kept<Value: Sendable>(_ make: () -> Value) -> Value { view.kept(make) }

    /// Lets the body begin again after a change of settings.
    private func requireNewest() throws {
        context.session.look { output.notice($0) }
        if isOutdated { throw ScreenOutdated() }
    }

    /// Whether there are newer settings.
    private var isOutdated: Bool { context.session.newest !== context.generation }

    /// Receives the notices and the progress of actions that the body performs.
    public var output: any ActionOutput { view.output }
}

/// Why the body of a screen goes on.
public enum ScreenChange: Sendable, Hashable {
    /// Something was written in this session, or the person asked for a refresh.
    case outdated
    /// Only the signal was raised.
    case raised
    /// The interval is over.
    case due
}

/// The settings have changed: the body begins again with the new ones.
struct ScreenOutdated: Error {}
