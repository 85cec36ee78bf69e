import Glibc

/// How often a test kills or races something at a random moment: all of it in `make torture`, a part of it in `make test`, each time with
/// other moments.
public enum Rounds {
    /// The rounds of a test that has this many in `make torture`.
    ///
    /// - Parameter least: the fewest that still say something.
    public static func of(_ whole: Int, least: Int = 5) -> Int {
        isWhole ? whole : min(whole, max(least, whole / 10))
    }

    /// Whether every round is made.
    public static var isWhole: Bool {
        // The environment of a test process does not change.
        unsafe getenv("MARTLET_TEST_TORTURE") != nil
    }
}
