public import Registry

extension WorkbenchSession.Limits {
    /// For tests of what features do and not of how long they may take: a busy machine takes its time.
    public static let unhurried = WorkbenchSession.Limits(start: .seconds(600), stop: .seconds(600))
}
