import { type Framework, portOf } from './framework.ts'
import { filesOf } from './read-files.ts'

/** What runs where it can keep no secret: in a browser, in a terminal, on a phone. */
export const elsewhere: Record<string, Framework> = {
  browser: {
    name: 'A page in the browser (oidc-client-ts)',
    registers: 'page',
    address: 'http://localhost:3002',
    callback: '/',
    back: '/',
    env: ({ issuer, clientId, address }) => ({ ISSUER: issuer, CLIENT_ID: clientId, PORT: portOf(address) || '3002' }),
    commands: ['npm i express oidc-client-ts jwt-decode', 'npm pkg set type=module', 'node --env-file=.env serve.js'],
    files: filesOf({
      'shop.js': () => import('../../examples/browser/shop.js?raw'),
      'index.html': () => import('../../examples/browser/index.html?raw'),
      'serve.js': () => import('../../examples/browser/serve.js?raw'),
    }),
  },
  'command-line': {
    name: 'A command line (openid-client)',
    registers: 'device',
    // Any port of this machine fits: it is not compared.
    address: 'http://127.0.0.1',
    callback: '/callback',
    back: '',
    env: ({ issuer, clientId }) => ({ ISSUER: issuer, CLIENT_ID: clientId }),
    commands: ['npm i openid-client', 'npm pkg set type=module', 'node --env-file=.env shop.js sign-in'],
    files: filesOf({ 'shop.js': () => import('../../examples/command-line/shop.js?raw') }),
  },
  native: {
    name: 'An app on a phone or desktop',
    registers: 'device',
    address: 'com.example.app:/signed-in',
    callback: '',
    back: '',
    env: ({ issuer, clientId, address }) => ({ ISSUER: issuer, CLIENT_ID: clientId, REDIRECT_URI: address }),
    commands: [],
    files: async () => [],
  },
}
