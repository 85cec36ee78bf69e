import Registry

/// Composing and checking 200 features with 2,000 actions.
enum ComposeBenchmark {
    static func run() throws -> [Figure] {
        let list = SyntheticFeatures.list(200)
        var actions = 0
        var problems = 0
        // The first time is what a program pays: every type is met for the first time.
        var cold = Samples()
        cold.add(
            ContinuousClock().measure {
                let composition = Composition(list)
                actions = composition.registry.actions.all.count
                problems = composition.problems.count
            })
        guard actions == 2000, problems == 0 else { throw BenchmarkError("\(actions) actions, \(problems) problems") }
        let warm = Samples.best(of: 10) { _ = Composition(list) }
        return [
            Figure("200 features, 2,000 actions, first time", cold.median * 1000, "ms", .atMost(20)),
            Figure("200 features, 2,000 actions, again", warm * 1000, "ms"),
        ]
    }
}
