import { isIP } from 'node:net'
import type { Setting } from '../config/read-config.ts'

/** Name servers by their addresses, separated by commas. None: those of the machine. */
export const nameServers: Setting<string[]> = {
  default: [],
  accepts: 'addresses, each with a port where it is not 53',
  read: (text) =>
    text.split(',').map((given) => {
      const server = given.trim()
      const [, inBrackets, plain, port] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(server) ?? []
      const isSound = isIP(server) !== 0 || isIP(inBrackets ?? '') === 6 || isIP(plain ?? '') === 4
      if (!isSound || Number(port ?? 53) > 65_535 || port === '0')
        throw new Error('names a server that is no address, such as 10.0.0.2 or [fd00::2]:5353')
      return server
    }),
}
