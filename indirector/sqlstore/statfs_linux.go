package sqlstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// errReadOnly is what a file system that cannot be written gives.
const errReadOnly = unix.EROFS

// networkFS returns the kind of a network file system that a directory is on, or "".
func networkFS(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return networkKinds[uint32(st.Type)], nil
}

// networkKinds are the kinds by their numbers, as statfs(2) lists them.
var networkKinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.SMB2_SUPER_MAGIC: "smb2", unix.CIFS_SUPER_MAGIC: "cifs",
	unix.CEPH_SUPER_MAGIC: "ceph", unix.AFS_SUPER_MAGIC: "afs", unix.AFS_FS_MAGIC: "afs", unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC: "ncp", unix.V9FS_MAGIC: "9p", unix.OCFS2_SUPER_MAGIC: "ocfs2",
	0x01161970: "gfs2", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x19830326: "fhgfs",
}
