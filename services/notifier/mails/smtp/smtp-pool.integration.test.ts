import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openSmtpPool } from './smtp-pool.ts'

/** What the server does instead of its answer to a command or to a whole mail. */
type Break = 'MAIL' | 'RCPT' | 'DATA' | 'mail'

/** A mail server that keeps the mails it got, and cuts the connection at the n-th mail of all. Over one connection it takes
 * a number of mails at most, and refuses more without ending it. */
async function openServer(cut: { at: Break; mail: number; answer?: string }, most = Infinity) {
  const mails: string[] = []
  const sockets: Socket[] = []
  let begun = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    let text = ''
    let inMail = false
    let own = 0
    const answer = (at: string, line: string) => {
      if (at !== cut.at || begun !== cut.mail) return socket.write(`${line}\r\n`)
      begun = Infinity
      return socket.end(cut.answer ?? '')
    }
    socket.on('error', () => {})
    socket.write('220 test\r\n')
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (;;) {
        const end = inMail ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
        if (end < 0 || socket.writableEnded) return
        const line = text.slice(0, end)
        text = text.slice(end + (inMail ? 5 : 2))
        const command = inMail ? 'mail' : line.slice(0, 4)
        if (command === 'mail') mails.push(line)
        if (command === 'MAIL') begun++
        if (command === 'MAIL') own++
        if (own > most && ['MAIL', 'RCPT', 'DATA'].includes(command)) {
          socket.write(command === 'MAIL' ? '452 4.5.3 too many mails over one connection\r\n' : '503 no sender\r\n')
          continue
        }
        inMail = command === 'DATA'
        answer(command, command === 'EHLO' ? '250-test\r\n250 PIPELINING' : inMail ? '354 go on' : '250 ok')
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = openSmtpPool({ url: `smtp://127.0.0.1:${port}`, maxConnections: 1, readyWithin: 10_000 })
  onTestFinished(() => {
    pool.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const send = (mail: string, isDue?: () => Promise<boolean>) =>
    pool.send('from@example.com', 'to@example.com', `Subject: ${mail}\r\n\r\n${mail}\r\n`, isDue)
  return { mails, send }
}

const subjects = (mails: string[]) => mails.map((mail) => /Subject: (.*)/.exec(mail)![1])

test.each([
  ['MAIL', ''],
  ['RCPT', ''],
  ['DATA', ''],
  ['MAIL', '421 4.7.0 too many mails over one connection\r\n'],
] as const)('a connection that ends at %s of a later mail: it goes over another one, once', async (at, answer) => {
  const { mails, send } = await openServer({ at, mail: 2, answer })
  for (const mail of ['first', 'second', 'third']) await send(mail)
  expect(subjects(mails)).toEqual(['first', 'second', 'third'])
})

test('a connection over which the server takes no further mail: that goes over another one, once', async () => {
  const { mails, send } = await openServer({ at: 'mail', mail: Infinity }, 2)
  const sent = ['1', '2', '3', '4', '5']
  for (const mail of sent) await send(mail)
  expect(subjects(mails)).toEqual(sent)
})

test('a sender that the server refuses for now over a new connection is not tried again by the pool', async () => {
  const { mails, send } = await openServer({ at: 'mail', mail: Infinity }, 0)
  await expect(send('first')).rejects.toMatchObject({ responseCode: 452 })
  expect(mails).toEqual([])
})

test('a mail that is due no more once the server is ready for it is kept back, and the next one goes out', async () => {
  const { mails, send } = await openServer({ at: 'mail', mail: Infinity })
  expect(await send('first')).toMatch(/^250 /)
  expect(await send('second', async () => false)).toBe(false)
  expect(await send('third', async () => true)).toMatch(/^250 /)
  await expect(send('fourth', () => Promise.reject(new Error('unknown')))).rejects.toThrow('unknown')
  expect(subjects(mails)).toEqual(['first', 'third'])
})

test('a mail that the server got whole and did not answer is not sent again by the pool', async () => {
  const { mails, send } = await openServer({ at: 'mail', mail: 2 })
  await send('first')
  await expect(send('second')).rejects.toThrow()
  await send('third')
  expect(subjects(mails)).toEqual(['first', 'second', 'third'])
})

test('lines that begin with a dot arrive as they are', async () => {
  const { mails, send } = await openServer({ at: 'mail', mail: Infinity })
  await send('dots')
  await send('.a\r\n..b\r\n.')
  expect(mails.at(-1)!.split('\r\n\r\n')[1]!.split('\r\n')).toEqual(['..a', '...b', '..'])
})
