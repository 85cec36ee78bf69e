/// Sends what a long-lived process measures to where the person wants it.
///
/// ```swift
/// let end = registry.optional((any MetricPublisher).self)?.publish(of: "gateway") { services.families }
/// ```
public protocol MetricPublisher: AnyObject, Sendable {
    /// Begins to send metrics again and again, each time as they are then.
    ///
    /// - Parameters:
    ///   - feature: what measures them.
    ///   - read: the metrics at the moment. It must not block.
    /// - Returns: what ends it and sends the last values, which takes a few seconds at most. Call it when the work has ended.
    func publish(
        of feature: String, _ read: @escaping @Sendable () -> [MetricFamily]
    ) -> @Sendable () async -> Void
}
