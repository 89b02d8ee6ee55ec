import { type Facts, type Framework, portOf } from './framework.ts'
import { filesOf } from './read-files.ts'

const client = ({ issuer, clientId, clientSecret, address }: Facts) => ({
  ISSUER: issuer,
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
  PORT: portOf(address) || '3000',
})
const run = ['npm pkg set type=module', 'node --env-file=.env server.js']
const server = { registers: 'web' as const, address: 'http://localhost:3000', back: '/' }

/** Servers in Node. */
export const nodeServers: Record<string, Framework> = {
  express: {
    ...server,
    name: 'Express',
    callback: '/callback',
    env: (facts) => ({ ...client(facts), SECRET: facts.random }),
    commands: ['npm i express express-openid-connect', ...run],
    files: filesOf({ 'server.js': () => import('../../examples/express/server.js?raw') }),
  },
  nextjs: {
    ...server,
    name: 'Next.js (Auth.js)',
    callback: '/api/auth/callback/roster',
    env: (facts) => ({ ...client(facts), AUTH_SECRET: facts.random, AUTH_URL: facts.address }),
    commands: ['npm i next next-auth@beta react react-dom', 'npm pkg set type=module', 'npx next dev'],
    files: filesOf({
      'auth.config.js': () => import('../../examples/nextjs/auth.config.js?raw'),
      'auth.js': () => import('../../examples/nextjs/auth.js?raw'),
      'app/api/auth/[...nextauth]/route.js': () =>
        import('../../examples/nextjs/app/api/auth/[...nextauth]/route.js?raw'),
      'tokens.js': () => import('../../examples/nextjs/tokens.js?raw'),
      'proxy.js': () => import('../../examples/nextjs/proxy.js?raw'),
      'app/page.jsx': () => import('../../examples/nextjs/app/page.jsx?raw'),
      'app/layout.jsx': () => import('../../examples/nextjs/app/layout.jsx?raw'),
    }),
  },
  'auth-express': {
    ...server,
    name: 'Express (Auth.js)',
    callback: '/auth/callback/roster',
    env: (facts) => ({ ...client(facts), AUTH_SECRET: facts.random }),
    commands: ['npm i express @auth/express @auth/core', ...run],
    files: filesOf(
      {
        'auth.config.js': () => import('../../examples/nextjs/auth.config.js?raw'),
        'server.js': () => import('../../examples/auth-express/server.js?raw'),
      },
      // The two are in one folder.
      { "'../nextjs/auth.config.js'": () => "'./auth.config.js'" },
    ),
  },
  node: {
    ...server,
    name: 'Node (openid-client)',
    callback: '/callback',
    env: client,
    commands: ['npm i express express-session openid-client', ...run],
    files: filesOf({ 'server.js': () => import('../../examples/web-server.js?raw') }),
  },
}
