internal import COpenSSL
internal import Secrets

/// The group NIST P-256 by libcrypto, as far as SPAKE2 needs it.
///
/// For one calculation on one thread: it contains libcrypto's scratch space. Each multiplication has one scalar: in
/// this form libcrypto's time does not depend on the scalar.
final class P256 {
    /// Bytes of an uncompressed point (SEC 1, section 2.3.3).
    static let pointBytes = 65
    /// Bytes of a scalar, big-endian.
    static let scalarBytes = 32

    /// `EC_GROUP *`, owned.
    private let group: OpaquePointer
    /// `BN_CTX *`, owned; wiped when it is freed.
    private let scratch: OpaquePointer

    init() throws(PairingError) {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            throw .noCryptography("the curve P-256")
        }
        guard let scratch = BN_CTX_secure_new() else {
            EC_GROUP_free(group)
            throw .noCryptography("scratch space")
        }
        self.group = group
        self.scratch = scratch
    }

    deinit {
        BN_CTX_free(scratch)
        EC_GROUP_free(group)
    }

    /// A number of libcrypto. Its memory is wiped when it is released.
    final class Scalar {
        /// `BIGNUM *`, owned.
        private let handle: OpaquePointer

        fileprivate init() throws(PairingError) {
            guard let handle = BN_secure_new() else { throw .noCryptography("a number") }
            BN_set_flags(handle, BN_FLG_CONSTTIME)
            self.handle = handle
        }

        deinit { BN_clear_free(handle) }

        /// Lends the handle: without this the number could be freed before the call that uses its handle.
        fileprivate func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
            withExtendedLifetime(self) { body(handle) }
        }
    }

    /// A point of the curve. Its memory is wiped when it is released.
    final class Point {
        /// `EC_POINT *`, owned.
        private let handle: OpaquePointer

        fileprivate init(_ group: OpaquePointer) throws(PairingError) {
            guard let handle = EC_POINT_new(group) else { throw .noCryptography("a point") }
            self.handle = handle
        }

        deinit { EC_POINT_clear_free(handle) }

        /// Lends the handle: without this the point could be freed before the call that uses its handle.
        fileprivate func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
            withExtendedLifetime(self) { body(handle) }
        }
    }

    /// Lends the group and the scratch space.
    private func lend<Result>(_ body: (_ group: OpaquePointer, _ scratch: OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(group, scratch) }
    }

    // MARK: Scalars

    /// The big-endian number in `bytes`, modulo the group's order; never zero.
    ///
    /// If `bytes` is at least 16 bytes longer than the order, the result is practically uniform.
    func scalar(reducing bytes: SecretBytes) throws(PairingError) -> SecretBytes {
        let whole = try number(bytes)
        let reduced = try Scalar()
        let isReduced = lend { group, scratch in
            whole.lend { whole in
                reduced.lend { reduced in
                    BN_div(nil, reduced, whole, EC_GROUP_get0_order(group), scratch) == 1 && BN_is_zero(reduced) == 0
                }
            }
        }
        guard isReduced else { throw .noCryptography("a scalar") }
        return try encoded(reduced)
    }

    /// A random scalar from 1 to the order minus 1.
    func randomScalar() throws(PairingError) -> SecretBytes {
        let scalar = try Scalar()
        repeat {
            let result = lend { group, _ in
                scalar.lend { BN_priv_rand_range($0, EC_GROUP_get0_order(group)) }
            }
            guard result == 1 else { throw .noCryptography("a random number") }
        } while scalar.lend { BN_is_zero($0) } == 1
        return try encoded(scalar)
    }

    private func number(_ bytes: SecretBytes) throws(PairingError) -> Scalar {
        let number = try Scalar()
        let isRead = number.lend { number in
            bytes.withBytes {
                BN_bin2bn($0.bindMemory(to: UInt8.self).baseAddress, Int32($0.count), number) != nil
            }
        }
        guard isRead else { throw .noCryptography("a number") }
        return number
    }

    private func encoded(_ scalar: Scalar) throws(PairingError) -> SecretBytes {
        try SecretBytes(count: Self.scalarBytes) { (room) throws(PairingError) in
            let start = room.bindMemory(to: UInt8.self).baseAddress
            let count = scalar.lend { BN_bn2binpad($0, start, Int32(room.count)) }
            guard count == Int32(room.count) else { throw .noCryptography("a number") }
        }
    }

    // MARK: Points

    /// Reads a point from its compressed or uncompressed form.
    ///
    /// - Returns: nil for bytes that are not a point of the curve, and for the point at infinity.
    func point(_ bytes: [UInt8]) throws(PairingError) -> Point? {
        let point = try Point(group)
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let isOnCurve = lend { group, scratch in
            point.lend { point in
                EC_POINT_oct2point(group, point, bytes, bytes.count, scratch) == 1
                    && EC_POINT_is_on_curve(group, point, scratch) == 1
                    && EC_POINT_is_at_infinity(group, point) == 0
            }
        }
        return isOnCurve ? point : nil
    }

    /// The uncompressed form.
    ///
    /// - Returns: nil for the point at infinity.
    func encoded(_ point: Point) throws(PairingError) -> SecretBytes? {
        let isAtInfinity = lend { group, _ in point.lend { EC_POINT_is_at_infinity(group, $0) } }
        guard isAtInfinity == 0 else { return nil }
        return try SecretBytes(count: Self.pointBytes) { (room) throws(PairingError) in
            let start = room.bindMemory(to: UInt8.self).baseAddress
            let count = lend { group, scratch in
                point.lend {
                    EC_POINT_point2oct(group, $0, POINT_CONVERSION_UNCOMPRESSED, start, room.count, scratch)
                }
            }
            guard count == room.count else { throw .noCryptography("a point") }
        }
    }

    /// `scalar` times the generator.
    func generator(times scalar: SecretBytes) throws(PairingError) -> Point {
        let scalar = try number(scalar)
        return try calculated { group, result, scratch in
            scalar.lend { EC_POINT_mul(group, result, $0, nil, nil, scratch) }
        }
    }

    /// `scalar` times `point`.
    func product(_ point: Point, times scalar: SecretBytes) throws(PairingError) -> Point {
        let scalar = try number(scalar)
        return try calculated { group, result, scratch in
            scalar.lend { scalar in point.lend { EC_POINT_mul(group, result, nil, $0, scalar, scratch) } }
        }
    }

    /// `one` plus `other`.
    func sum(_ one: Point, _ other: Point) throws(PairingError) -> Point {
        try calculated { group, result, scratch in
            one.lend { one in other.lend { EC_POINT_add(group, result, one, $0, scratch) } }
        }
    }

    /// `one` minus `other`.
    func difference(_ one: Point, _ other: Point) throws(PairingError) -> Point {
        let negated = try calculated { group, result, scratch in
            other.lend { EC_POINT_copy(result, $0) == 1 ? EC_POINT_invert(group, result, scratch) : 0 }
        }
        return try sum(one, negated)
    }

    /// A new point that `body` computes; `body` returns 1 on success.
    private func calculated(
        _ body: (_ group: OpaquePointer, _ result: OpaquePointer, _ scratch: OpaquePointer) -> Int32
    ) throws(PairingError) -> Point {
        let point = try Point(group)
        let result = lend { group, scratch in point.lend { body(group, $0, scratch) } }
        guard result == 1 else { throw .noCryptography("a point") }
        return point
    }
}
