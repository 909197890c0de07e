package import NIOCore

extension TLSHandler {
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch (state, outbound) {
        case (.idle, .open), (.handshaking, .open), (.open, .open):
            pending.append(Self.unwrapOutboundIn(data), promise: promise)
        case (.open, _):
            promise?.fail(ChannelError.outputClosed)
        default:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func flush(context: ChannelHandlerContext) {
        pending.flush()
        advanceOutbound(context)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { advanceOutbound(context) }
        context.fireChannelWritabilityChanged()
    }

    /// Encrypts and sends the flushed data, as far as the channel takes it, and then the end if it is due.
    func advanceOutbound(_ context: ChannelHandlerContext) {
        // A write can complete at once, and its promise can cause another write: the loop sends that, too.
        guard !isEncrypting else { return }
        isEncrypting = true
        let flushedBytes = pending.flushedBytes
        while state == .open || state == .closing, pending.hasFlushed, context.channel.isWritable {
            sendBatch(context)
        }
        isEncrypting = false
        if state == .closing, pending.flushedBytes < flushedBytes, !isHurried { scheduleClosing(context) }
        guard !pending.hasFlushed, outbound == .ending, state == .open || state == .closing else { return }
        sendEnd(context)
    }

    package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?)
    {
        guard event is TLSHurry else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isHurried = true
        let isLong = limits.closeDeadline > TransportLimits.hurriedCloseDeadline
        if state == .closing, outbound != .ended || isLong { scheduleClosing(context) }
        promise?.succeed()
    }

    private func sendBatch(_ context: ChannelHandlerContext) {
        let bytes = min(pending.flushedBytes, TransportLimits.batchBytes)
        engine.provideOutbound(context.channel.allocator.buffer(capacity: TLSEngine.ciphertextBound(of: bytes)))
        var promises: [EventLoopPromise<Void>] = []
        do throws(TLSError) {
            try pending.encrypt(upTo: TransportLimits.batchBytes, with: engine, completed: &promises)
        } catch {
            for promise in promises { promise.fail(error) }
            return fail(error, context)
        }
        let ciphertext = engine.takeOutbound()
        for promise in promises.dropFirst() { promises[0].futureResult.cascade(to: promise) }
        context.writeAndFlush(Self.wrapOutboundOut(ciphertext), promise: promises.first)
    }

    private func sendEnd(_ context: ChannelHandlerContext) {
        outbound = .endSent
        engine.closeOutbound()
        let isOut = context.eventLoop.makePromise(of: Void.self)
        isOut.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.endIsOut() }
        sendOutbound(context, promise: isOut)
    }

    private func endIsOut() {
        outbound = .ended
        guard let context else { return }
        switch state {
        case .closing:
            if !isHurried { scheduleClosing(context) }
            advanceClosing(context)
        case .open where engine.peerHasClosed:
            beginClosing(context)
        case .open:
            let isClosed = context.eventLoop.makePromise(of: Void.self)
            for promise in outputClosePromises { isClosed.futureResult.cascade(to: promise) }
            outputClosePromises = []
            context.close(mode: .output, promise: isClosed)
        case .idle, .handshaking, .failed, .closed, .left:
            break
        }
    }

    /// Sends the engine's own output: handshake messages, alerts, the close_notify.
    ///
    /// - Parameter promise: succeeds at once if there is nothing to send.
    func sendOutbound(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        guard engine.hasOutbound else {
            promise?.succeed()
            return
        }
        context.writeAndFlush(Self.wrapOutboundOut(engine.takeOutbound()), promise: promise)
    }
}

// MARK: - Closing

extension TLSHandler {
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all: closeAll(context, promise)
        case .output: closeOutput(context, promise)
        case .input: promise?.fail(ChannelError.operationUnsupported)
        }
    }

    private func closeAll(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        if let promise { closePromises.append(promise) }
        switch state {
        case .open: beginClosing(context)
        // A second close joins the first.
        case .closing: break
        case .idle, .handshaking, .failed, .closed, .left: finishClosing(context)
        }
    }

    private func closeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        switch (state, outbound) {
        case (.open, .open):
            if let promise { outputClosePromises.append(promise) }
            endOutbound(context)
        case (.open, .ending), (.open, .endSent):
            if let promise { outputClosePromises.append(promise) }
        case (.open, .ended):
            promise?.fail(ChannelError.outputClosed)
        case (.idle, _), (.handshaking, _):
            // There is no stream to end yet.
            promise?.fail(ChannelError.operationUnsupported)
        default:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    /// Sends the flushed data and then the end. Unflushed writes fail, as in a channel without TLS.
    private func endOutbound(_ context: ChannelHandlerContext) {
        guard outbound == .open else { return }
        outbound = .ending
        for promise in pending.takeUnflushed() { promise.fail(ChannelError.ioOnClosedChannel) }
        advanceOutbound(context)
    }

    /// Starts an orderly close, within the deadline.
    func beginClosing(_ context: ChannelHandlerContext) {
        guard state == .open else { return }
        state = .closing
        scheduleClosing(context)
        endOutbound(context)
        discardWhileClosing(context)
        if state == .closing { context.read() }
    }

    /// Sets the deadline of the present step of closing.
    private func scheduleClosing(_ context: ChannelHandlerContext) {
        let deadline =
            if isHurried {
                min(limits.closeDeadline, TransportLimits.hurriedCloseDeadline)
            } else {
                outbound == .ended ? limits.closeDeadline : limits.drainDeadline
            }
        schedule(deadline, context) { handler, context in handler.finishClosing(context) }
    }

    /// Closes the channel once both sides have ended their streams.
    func advanceClosing(_ context: ChannelHandlerContext) {
        guard state == .closing, outbound == .ended, engine.peerHasClosed || socketInputHasEnded else { return }
        finishClosing(context)
    }

    /// Closes the channel now.
    func finishClosing(_ context: ChannelHandlerContext) {
        state = .closed
        deadline?.cancel()
        deadline = nil
        failPending(ChannelError.ioOnClosedChannel)
        let promise = context.eventLoop.makePromise(of: Void.self)
        // The channel may be closed already; then the close has succeeded.
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.settleClosePromises() }
        context.close(mode: .all, promise: promise)
    }

    func settleClosePromises() {
        for promise in closePromises + outputClosePromises { promise.succeed() }
        closePromises = []
        outputClosePromises = []
    }
}
