import Registry
import Testing

@Suite("Feature order")
struct OrderTests {
    @Test("Each feature comes after those it requires, otherwise in the listed order")
    func order() throws {
        let composition = try compose([
            Link<Gamma, Beta>.self, Source<Delta>.self, Link<Beta, Alpha>.self, Source<Alpha>.self,
        ])
        #expect(composition.complaints.isEmpty)
        #expect(composition.order == ["delta", "alpha", "beta", "gamma"])
        #expect(composition.features.last?.requires == ["beta"])
    }

    @Test("Optional needs, and needs for all providers, do not affect the order")
    func loose() throws {
        let composition = try compose([Loose<Beta, Alpha>.self, Source<Alpha>.self])
        #expect(composition.order == ["beta", "alpha"])
        #expect(composition.features.first?.requires == [])
        #expect(composition.features.first?.uses == ["alpha", "alpha"])
    }

    @Test(
        "Each cycle is reported once with all its members",
        arguments: [
            ([Link<Alpha, Alpha>.self], ["alpha → alpha"]),
            ([Link<Alpha, Beta>.self, Link<Beta, Alpha>.self], ["alpha → beta → alpha"]),
            (
                [Link<Alpha, Beta>.self, Link<Beta, Gamma>.self, Link<Gamma, Alpha>.self],
                ["alpha → beta → gamma → alpha"]
            ),
            (
                [Link<Alpha, Beta>.self, Link<Beta, Alpha>.self, Link<Gamma, Delta>.self, Link<Delta, Gamma>.self],
                ["alpha → beta → alpha", "gamma → delta → gamma"]
            ),
        ] as [([any Feature.Type], [String])])
    func circles(types: [any Feature.Type], expected: [String]) throws {
        let composition = try compose(types)
        #expect(composition.problems.allSatisfy { $0.code == .cycle })
        #expect(
            composition.complaints
                == expected.map { circle in
                    "\(circle.prefix { $0 != " " }) is part of a cycle in which each needs the next: \(circle); "
                        + "make one of these needs optional"
                })
        #expect(Set(composition.order) == Set(types.map { $0.manifest.id }))
    }

    @Test("A cycle behind another cycle is reported")
    func behind() throws {
        /// Needs a member of the first cycle and a member of its own cycle.
        struct Both: PlainFeature {
            static let manifest = Manifest(
                id: "gamma", summary: "In two minds", version: "1", provides: [.single(Gamma.self)],
                needs: [.one(Alpha.self), .one(Delta.self)])
            func register(in registry: inout RegistryBuilder) { registry.provide(Gamma.self, Gamma()) }
        }
        let composition = try compose([
            Both.self, Link<Alpha, Beta>.self, Link<Beta, Alpha>.self, Link<Delta, Gamma>.self,
        ])
        #expect(composition.problems.map(\.code) == [.cycle, .cycle])
        #expect(composition.complaints.first?.contains("alpha → beta → alpha") == true)
        #expect(composition.complaints.last?.contains("gamma → delta → gamma") == true)
    }

    @Test("A feature that only depends on a cycle is not reported as part of it")
    func dependant() throws {
        let composition = try compose([Link<Gamma, Alpha>.self, Link<Alpha, Beta>.self, Link<Beta, Alpha>.self])
        #expect(composition.problems.map(\.feature) == ["alpha"])
        #expect(composition.order == ["alpha", "beta", "gamma"])
    }

    @Test("Optional needs, and needs for all providers, may form cycles")
    func looseCircles() throws {
        #expect(try compose([Loose<Alpha, Beta>.self, Loose<Beta, Alpha>.self]).complaints.isEmpty)
        #expect(try compose([Loose<Alpha, Alpha>.self]).complaints.isEmpty)
        let half = try compose([Link<Alpha, Beta>.self, Loose<Beta, Alpha>.self])
        #expect(half.complaints.isEmpty)
        #expect(half.order == ["beta", "alpha"])
    }

    @Test("The closure of a feature contains all that it requires or uses")
    func closure() throws {
        let composition = try compose([
            Link<Alpha, Beta>.self, Loose<Beta, Gamma>.self, Source<Gamma>.self, Source<Delta>.self,
        ])
        #expect(composition.closure(of: "alpha") == ["alpha", "beta", "gamma"])
        #expect(composition.closure(of: "beta") == ["beta", "gamma"])
        #expect(composition.closure(of: "delta") == ["delta"])
        #expect(composition.closure(of: "nobody") == [])
        #expect(
            try compose([Loose<Alpha, Beta>.self, Loose<Beta, Alpha>.self]).closure(of: "beta") == ["alpha", "beta"])
    }
}
