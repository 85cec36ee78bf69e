// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SchemaKit",
    products: [.library(name: "SchemaKit", targets: ["SchemaKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../HTTPKit"), .package(path: "../PatternKit")],
    targets: [
        .target(
            name: "SchemaKit",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "PatternKit", package: "PatternKit"),
            ]),
        .testTarget(
            name: "SchemaKitTests",
            dependencies: [
                "SchemaKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "HTTPTesting", package: "HTTPKit"), .product(name: "PatternKit", package: "PatternKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
