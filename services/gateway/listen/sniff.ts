import type { Socket } from 'node:net'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/**
 * Reads just enough of a connection to tell the HTTP/2 preface from any other beginning, and puts it back. Decides on
 * undefined where the connection ended before. A connection that does not show within `timeout` milliseconds is
 * destroyed.
 */
export function sniff(socket: Socket, timeout: number, decide: (isHttp2: boolean | undefined) => void) {
  const quit = () => socket.destroy()
  const timer = setTimeout(quit, timeout)
  const settle = (isHttp2: boolean | undefined) => {
    clearTimeout(timer)
    socket.off('readable', look).off('error', quit).off('end', quit).off('close', giveUp)
    decide(isHttp2)
  }
  const giveUp = () => settle(undefined)
  let head = Buffer.alloc(0)
  const look = () => {
    const bytes = socket.read() as Buffer | null
    if (bytes === null) return
    head = Buffer.concat([head, bytes])
    const isPreface = head.subarray(0, preface.length).equals(preface.subarray(0, head.length))
    if (isPreface && head.length < preface.length) return
    socket.unshift(head)
    settle(isPreface)
  }
  socket.on('readable', look).on('error', quit).on('end', quit).on('close', giveUp)
}
