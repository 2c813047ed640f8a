/** Node warns of an emitter that has very many listeners. As an unhandled error, the warning fails the run. */
const known = Symbol.for('purser.fail-on-leaks')

// Files of a project share a process.
if (!(known in process)) {
  Object.assign(process, { [known]: true })
  process.on('warning', warning => {
    // Without the emitter, which fills many pages.
    if (warning.name === 'MaxListenersExceededWarning')
      throw Object.assign(new Error(warning.message), { stack: warning.stack })
  })
}
