/// What has become of the steps of a run, for its report and for what has to go on after a stop.
actor RunRecord {
    private(set) var updates: [StepUpdate] = []
    private(set) var outcomes: [String: StepOutcome] = [:]

    func add(_ update: StepUpdate) {
        outcomes[update.key] = update.outcome
        updates.append(update)
    }
}
