// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "PatternKit",
    products: [.library(name: "PatternKit", targets: ["PatternKit"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .target(name: "PatternKit", dependencies: ["CPCRE2", .product(name: "Core", package: "Core")]),
        .testTarget(name: "PatternKitTests", dependencies: ["PatternKit", .product(name: "Core", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
