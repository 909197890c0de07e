import NIOCore

// Where the kernel encrypts (`KernelTLS`), plaintext goes through the channel as it is.

extension TLSHandler {
    /// Lets the end of the handshake have the kernel encrypt, if there is a socket below.
    func offerTakeover(_ context: ChannelHandlerContext) {
        // Asked while this handler reads: all that it has written before has been answered, so none of it is left in the channel.
        engine.offerTakeover { [weak self] ciphertext, keys in
            guard let context = self?.context else { return false }
            return Self.withSocket(context) { KernelTLS.takeOver($0, after: &ciphertext, keys: keys) } ?? false
        }
    }

    /// Sends what was flushed, a batch of it, for the kernel to make records of: full ones, across the borders of writes.
    func sendPlaintext(_ context: ChannelHandlerContext) {
        pending.takeFlushed(upTo: TransportLimits.batchBytes) { bytes, promise in
            context.write(Self.wrapOutboundOut(bytes), promise: promise)
        }
        context.flush()
    }

    /// Sends what TLS itself has to say. The channel has no way to tell a record's type, so it goes past it, when everything
    /// is out that was written to it before.
    ///
    /// - Parameter promise: kept at once if there is nothing to send.
    func sendRecords(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        let records = engine.takeRecords()
        guard !records.isEmpty else {
            promise?.succeed()
            return
        }
        let isTheirTurn = context.eventLoop.makePromise(of: Void.self)
        isTheirTurn.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.send(records[...], promise)
            case .failure(let error): promise?.fail(error)
            }
        }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer()), promise: isTheirTurn)
    }

    private func send(_ records: ArraySlice<KernelTLS.Record>, _ promise: EventLoopPromise<Void>?) {
        guard let record = records.first else {
            promise?.succeed()
            return
        }
        guard let context,
            let sent = Self.withSocket(context, { socket in Result { try KernelTLS.send(record, to: socket) } })
        else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch sent {
        case .success(true):
            send(records.dropFirst(), promise)
        case .success(false):
            // The peer has not read for long, and the channel does not say when it does while it has nothing to write itself.
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(10)) { self.send(records, promise) }
        case .failure(let error):
            promise?.fail(error)
        }
    }

    /// - Returns: nil if the channel has no socket, or not any more.
    static func withSocket<Result>(_ context: ChannelHandlerContext, _ body: (CInt) -> Result) -> Result? {
        try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, body)
    }
}
